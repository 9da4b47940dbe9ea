"""What an attention computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.attention.fragmented import FragmentedProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.work import Work

from . import inputs
from .weighted_values import Changing, WeightedValues


@dataclass(frozen=True)
class AttentionProblem(FragmentedProblem, WeightedValues):
    """O = softmax(scale·Q·Kᵀ)·V of each head, and the logarithm of the softmax's sums; sums are FP32.

    Source: Dao et al., FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness, 2022.

    A row that sees no key is 0, its logarithm -infinity.
    """

    operands = {  # noqa: RUF012
        "q": Axes("bshd"),
        "k": Axes("btgd"),
        "v": Axes("btge"),
        "o": Axes("bshe"),
    }

    def work_of_pairs(self, pairs: int) -> Work:
        """See `FragmentedProblem.work_of_pairs`: without any, operands are not read."""
        return self.work_of(pairs, sum(map(self.bytes_of, "qkv")) + self.sink_bytes if pairs else 0)

    def changing(self, inputs: Mapping[str, Array]) -> Changing:
        """See `WeightedValues.changing`."""
        named, keys = self.named(inputs), np.arange(self.keys)
        return lambda scores, batch, head, queries: self.changed(scores, named(batch, head, queries, keys))

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `inputs.random_inputs`."""
        return inputs.random_inputs(self.batched_tensors, seed) | self.offsets(seed)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """See `inputs.exact_inputs`: logarithms are never exact."""
        named = {tensor.name: tensor for tensor in self.batched_tensors}
        inexact = self.lse or not self.keys or self.scored or self.masked
        exact = None if inexact else inputs.exact_inputs(named, seed, plain=not self.softcap)
        return None if exact is None else exact | self.offsets(seed)
