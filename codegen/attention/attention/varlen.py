"""Attention of sequences of various lengths, packed one behind the other."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.attention.packed import PackedProblem

from .problem import AttentionProblem


@dataclass(frozen=True)
class VarlenAttentionProblem(PackedProblem, AttentionProblem):
    """The same for each of `batch` sequences that lie one behind the other.

    Source: Zhai et al., ByteTransformer: A High-Performance Transformer Boosted for Variable-Length Inputs, 2023.
    """
