"""What a causal_conv1d_update computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from autotune.codegen.convolution.causal_conv1d.problem import DTYPES, MOST_WIDTH, tolerance
from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.matmul.gemm.numbers import exact_numbers, random_numbers
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.indices import Indices, Order
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Unit, Work

_LEFT_OUT_EVERY = 8  # one in so many requests may have no slot, of those that are drawn


@dataclass(frozen=True)
class CausalConv1dUpdateProblem(StridedProblem):
    """The next steps of a causal_conv1d of each request, whose last steps are in a slot of the states.

    Axes are r: requests, c: channels, t: new steps, p: slots, w: steps of a state. A state becomes the last steps of
    itself and the new ones. A request whose slot is negative, or behind the last one, has results of 0.

    Attributes:
        requests: whose steps are new.
        channels: of each.
        steps: that are new, of each request.
        slots: of the states.
        width: of a filter; a state has width - 1 steps.
        dtype: of all arrays but slots.
        indexed: whether an int32 for each request says which slot it has; otherwise, request i has slot i.
        bias: whether an element for each channel is added.
        activation: applied to the sum.
    """

    operands = {"x": Axes("rct"), "y": Axes("rct"), "states": Axes("pcw")}  # noqa: RUF012

    requests: int = size(64)
    channels: int = size(8192, least=1)
    slots: int = size(512, least=1)
    steps: int = size(1, implied=1, least=1)
    width: int = kind(4, least=2, most=MOST_WIDTH)
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    indexed: bool = kind(False, codes=("", "indexed"))
    bias: bool = kind(False, codes=("", "bias"), transfers=True)
    activation: Activation = kind(Activation.IDENTITY, allowed=FUSED, implied=Activation.IDENTITY, transfers=True)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: a slot for each request."""
        fitted = super().fitted(fields)
        requests = min(fitted["requests"], INT_MAX // fitted["channels"])
        return fitted | {"requests": requests, "slots": max(requests, fitted["slots"])}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.requests > self.slots:
            raise ValueError(f"slots={self.slots}: expected one for each of the {self.requests} requests at least")
        if self.requests * self.channels > INT_MAX:
            raise ValueError(f"requests={self.requests}, channels={self.channels}: expected {INT_MAX} of both at most")

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        names = {"r": self.requests, "c": self.channels, "t": self.steps, "p": self.slots}
        return {**names, "w": self.width - 1}

    def dtype_of(self, operand: str) -> DType:
        """That of all."""
        return self.dtype

    @property
    def work(self) -> Work:
        """x is read and y written; of the states, those of the requests are read and written."""
        each = self.requests * self.channels * self.dtype.bytes
        moved = each * 2 * (self.steps + self.width - 1) + self.channels * (self.width + self.bias) * self.dtype.bytes
        results = self.requests * self.channels * self.steps
        return Work(moved + 4 * self.requests * self.indexed if each else 0, {Unit.FP32: 2 * results * self.width})

    @property
    def empty(self) -> bool:
        """Whether nothing is new."""
        return self.requests == 0

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``weight`` of shape (channels, width), ``bias`` and ``slot_indices`` if they are there, ``states``,
        which are updated, and ``y``."""
        one, weight = self.dtype.bytes, (self.channels, self.width)
        indices = Indices(self.slots - 1, -(self.requests // _LEFT_OUT_EVERY), Order.DISTINCT)
        indexed = Tensor.flat("slot_indices", DType.INT32, self.requests, Role.INPUT, 4, indices=indices)
        return (
            self.tensor("x", Role.INPUT),
            Tensor("weight", self.dtype, weight, row_major(weight), Role.INPUT, one),
            *([Tensor.flat("bias", self.dtype, self.channels, Role.INPUT, one)] if self.bias else []),
            *([indexed] if self.indexed else []),
            self.tensor("states", Role.IN_OUT),
            self.tensor("y", Role.OUTPUT, tolerance(self.dtype, self.width)),
        )

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1), and slots in any order, of which a few are negative."""
        return self._drawn(random_numbers, seed)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers, and a NaN that stays in a filter's channel. None for an activation that rounds."""
        if not self.activation.exact:
            return None
        inputs = self._drawn(exact_numbers, seed)
        self.views(inputs)["weight"][seed % self.channels, seed % self.width] = np.nan
        return inputs

    def _drawn(self, numbers: Callable[[np.random.Generator, DType, int], Array], seed: int) -> dict[str, Array]:
        random, made = np.random.default_rng(seed), {}
        for one in self.tensors:
            if one.indices:
                made[one.name] = one.indices.drawn(random, one.size, one.dtype.numpy)
            elif one.role is not Role.OUTPUT:
                made[one.name] = repeated(partial(numbers, random, one.dtype), one.size)
        return made

    def why_misleading(self, indices: Mapping[str, Array]) -> str:
        """See `Problem.why_misleading`; requests with any negative number have no slot."""
        if not self.indexed:
            return ""
        slots = indices["slot_indices"]
        wrong = np.flatnonzero(slots >= self.slots)
        if wrong.size:
            return f"slot_indices: request {wrong[0]} has slot {slots[wrong[0]]}: expected {self.slots - 1} or less"
        taken, times = np.unique(slots[slots >= 0], return_counts=True)
        if (times > 1).any():
            return f"slot_indices: {times.max()} requests have slot {taken[times.argmax()]}: expected one for each"
        return ""

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Y in float64, and all states as they are then."""
        views = self.views(inputs)
        slots = views["slot_indices"] if self.indexed else np.arange(self.requests)
        there = np.flatnonzero((slots >= 0) & (slots < self.slots))
        known = np.concatenate([views["states"][slots[there]], views["x"][there]], axis=2)
        weight, y = views["weight"].astype(np.float64), np.zeros((self.requests, self.channels, self.steps))
        z = np.zeros((there.size, self.channels, self.steps))
        with np.errstate(invalid="ignore"):
            for tap in range(self.width):
                z += weight[:, tap, None] * known[:, :, tap : tap + self.steps].astype(np.float64)
        if self.bias:
            z += views["bias"].astype(np.float64)[:, None]
        y[there] = self.activation.apply(z)
        states = inputs["states"].copy()
        next(one for one in self.tensors if one.name == "states").view(states)[slots[there]] = known[:, :, self.steps :]
        return {**self.buffers({"y": y}), "states": states}
