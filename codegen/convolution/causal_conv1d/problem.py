"""What a causal_conv1d computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autotune.codegen.epilogue.activation import FUSED, STEEPEST, Activation
from autotune.codegen.matmul.gemm.numbers import exact_numbers, random_numbers
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor, Within, row_major
from autotune.codegen.model.work import Unit, Work

DTYPES = (DType.BFLOAT16, DType.FLOAT16, DType.FLOAT32)
MOST_WIDTH = 32


def tolerance(dtype: DType, width: int) -> Within:
    """Of sums of products of numbers in [-1, 1) and one more, before an activation that is off by some units in the
    last place."""
    off = (2 * STEEPEST * (width + 1) ** 2 + 8 * (width + 1)) * DType.FLOAT32.roundoff
    return Within.rounded(dtype, absolute=off)


@dataclass(frozen=True)
class CausalConv1dProblem(MatrixProblem):
    """Y[t] = activation(Σ W[i]·X[t - width + 1 + i] + bias) of each channel; what is ahead of X is 0, or given.

    Sums are FP32 and rounded once. Source: Gu and Dao, Mamba: Linear-Time Sequence Modeling with Selective State
    Spaces, 2023.

    Attributes:
        channels: of a sequence.
        length: steps of a sequence.
        batch: sequences.
        width: of a filter.
        dtype: of all arrays.
        channels_last: whether channels of a step are neighbours in X and Y, rather than steps of a channel.
        bias: whether an element for each channel is added.
        activation: applied to the sum.
        initial: whether the width - 1 steps ahead of each sequence are given.
        numbered: whether each step has the number of a sequence. Then it sees steps of the same number alone, and those
            of negative numbers give 0.
        final: whether the last width - 1 steps of each sequence, with those ahead of it, are written, too.
        ldx, ldy: elements from a channel, or a step with `channels_last`, to the next; 0 means without gaps.
        stride_x, stride_y: elements from a sequence to the next; 0 means without gaps.
        align_x, align_y: bytes that the pointer is a multiple of, at most 16.
    """

    written = frozenset("y")

    channels: int = size(4096, least=1)
    length: int = size(4096)
    batch: int = size(1, implied=1)
    width: int = kind(4, least=1, most=MOST_WIDTH)
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    channels_last: bool = kind(False, codes=("", "channelslast"))
    bias: bool = kind(False, codes=("", "bias"), transfers=True)
    activation: Activation = kind(Activation.IDENTITY, allowed=FUSED, implied=Activation.IDENTITY, transfers=True)
    initial: bool = kind(False, codes=("", "initial"), transfers=True)
    final: bool = kind(False, codes=("", "final"), transfers=True)
    numbered: bool = kind(False, codes=("", "numbered"), transfers=True)
    ldx: int = layout()
    stride_x: int = layout(short="sx")
    align_x: int = layout(WIDEST_ACCESS)
    ldy: int = layout()
    stride_y: int = layout(short="sy")
    align_y: int = layout(WIDEST_ACCESS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.numbered and (self.initial or not self.channels_last):
            raise ValueError("numbered=True: expected channels_last=True, and no states ahead")

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: steps have numbers where problems may."""
        fitted = super().fitted(fields)
        fitted["numbered"] &= fitted["channels_last"] and not fitted["initial"]
        return fitted

    @property
    def stored(self) -> Mapping[str, tuple[int, int]]:
        """See `MatrixProblem.stored`: a matrix for each sequence."""
        shape = (self.length, self.channels) if self.channels_last else (self.channels, self.length)
        return dict.fromkeys("xy", shape)

    def element_bytes_of(self, operand: str) -> int:
        """That of all."""
        return self.dtype.bytes

    @property
    def work(self) -> Work:
        """An FMA for each tap."""
        steps = self.batch * self.channels * self.length
        return Work(self.tensor_bytes, {Unit.FP32: 2 * steps * self.width})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``weight``, ``bias``, ``initial_states`` and ``numbers`` if they are there, ``y``, and
        ``final_states`` if asked for. States are (batch, channels, width - 1), and numbers (batch, length)."""
        one, weight = self.dtype.bytes, (self.channels, self.width)
        states = (self.batch, self.channels, self.width - 1)
        ahead = Tensor("initial_states", self.dtype, states, row_major(states), Role.INPUT, one)
        behind = Tensor("final_states", self.dtype, states, row_major(states), Role.OUTPUT, one)
        steps = (self.batch, self.length)
        numbers = Tensor("numbers", DType.INT32, steps, row_major(steps), Role.INPUT, DType.INT32.bytes)
        return (
            self.tensor("x", self.dtype, Role.INPUT),
            Tensor("weight", self.dtype, weight, row_major(weight), Role.INPUT, one),
            *([Tensor.flat("bias", self.dtype, self.channels, Role.INPUT, one)] if self.bias else []),
            *([ahead] if self.initial else []),
            *([numbers] if self.numbered else []),
            self.tensor("y", self.dtype, Role.OUTPUT, tolerance(self.dtype, self.width)),
            *([behind] if self.final else []),
        )

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1): the tolerance rests on it."""
        return self._drawn(partial(random_numbers, np.random.default_rng(seed)), seed)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers, and a NaN in each sequence, which stays in its channel and within the filter's width.

        None for an activation that rounds. Steps that are moved to the final states are numbers.
        """
        if not self.activation.exact:
            return None
        inputs = self._drawn(partial(exact_numbers, np.random.default_rng(seed)), seed)
        x = self._by_channel(self.views(inputs)["x"])
        if self.length and not self.final:
            for sequence in range(min(self.batch, 8)):
                x[sequence, (seed + sequence) % self.channels, (seed * 7 + sequence) % self.length] = np.nan
        return inputs

    def _drawn(self, numbers: Callable[[DType, int], Array], seed: int) -> dict[str, Array]:
        read = (tensor for tensor in self.tensors if tensor.role is not Role.OUTPUT and tensor.name != "numbers")
        drawn = {tensor.name: repeated(partial(numbers, self.dtype), tensor.size) for tensor in read}
        if self.numbered:
            # Short sequences, from one of a negative number on.
            begins = np.random.default_rng(seed).random((self.batch, self.length)) < 1 / (2 * self.width)
            drawn["numbers"] = (np.cumsum(begins, axis=1, dtype=np.int32) - 1).reshape(-1)
        return drawn

    def _by_channel(self, steps: Array) -> Array:
        """A view as (batch, channels, length)."""
        return steps.swapaxes(1, 2) if self.channels_last else steps

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Y in float64, and the final states as they are."""
        views = self.views(inputs)
        x = self._by_channel(views["x"])
        states = np.zeros((self.batch, self.channels, self.width - 1), x.dtype)
        steps = np.concatenate([views.get("initial_states", states), x], axis=2)
        weight, z = views["weight"].astype(np.float64), np.zeros(x.shape)
        own = views.get("numbers", np.zeros((self.batch, self.length), np.int32))
        ahead = np.full((self.batch, self.width - 1), -1 if self.numbered else 0, np.int32)
        numbers = np.concatenate([ahead, own], axis=1)
        with np.errstate(invalid="ignore"):
            for tap in range(self.width):
                seen = steps[:, :, tap : tap + self.length].astype(np.float64)
                same = numbers[:, tap : tap + self.length] == own
                z += weight[:, tap, None] * np.where(same[:, None], seen, 0)
        if self.bias:
            z += views["bias"].astype(np.float64)[:, None]
        y = np.ascontiguousarray(self._by_channel(np.where(own[:, None] < 0, 0, self.activation.apply(z))))
        last = steps[:, :, self.length :]
        return self.buffers({"y": y} | ({"final_states": np.ascontiguousarray(last)} if self.final else {}))
