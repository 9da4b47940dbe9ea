"""The gradients of attention of sequences of various lengths, packed one behind the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention.varlen import VarlenAttentionProblem
from autotune.codegen.attention.packed import PackedProblem

from .problem import AttentionBackwardProblem


@dataclass(frozen=True)
class VarlenBackwardProblem(PackedProblem, AttentionBackwardProblem):
    """The gradients of attention_varlen: the same for each of `batch` sequences that lie one behind the other.

    Source: Zhai et al., ByteTransformer: A High-Performance Transformer Boosted for Variable-Length Inputs, 2023.
    """

    forward_type: ClassVar[type[AttentionProblem]] = VarlenAttentionProblem
