"""Attention of sequences of various lengths, packed one behind the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.attention.packed import PackedProblem
from autotune.codegen.model.problem import Array

from .problem import AttentionProblem
from .weighted_values import Changing


@dataclass(frozen=True)
class VarlenAttentionProblem(PackedProblem, AttentionProblem):
    """The same for each of `batch` sequences that lie one behind the other.

    Source: Zhai et al., ByteTransformer: A High-Performance Transformer Boosted for Variable-Length Inputs, 2023.
    """

    def changing(self, inputs: Mapping[str, Array]) -> Changing:
        """Fragments have the numbers of a sequence, and of queries and keys of their own sequence."""
        sequences = [*self._sequences(inputs)]

        def changed(scores: Array, _: int, head: int, places: Array) -> tuple[Array, Array]:
            found, seen = scores.copy(), np.ones(scores.shape, bool)
            for number, (queries, keys) in enumerate(sequences):
                own = np.flatnonzero((places >= queries.start) & (places < queries.stop))
                of_sequence = own, slice(keys.start, keys.stop)
                there = places[own] - queries.start, np.arange(len(keys))
                found[of_sequence], seen[of_sequence] = self.changed(scores[of_sequence], number, head, *there)
            return found, seen

        return changed
