"""What the third operator of the proof computes: it takes lists of arrays whose lengths are known to a call alone."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, size
from autotune.codegen.model.lists import element
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Unit, Work

ROOMS = (4, 16)  # most arrays of a list


@dataclass(frozen=True)
class ScaleProblem(Problem):
    """out[i] = alpha · x[i] for lists of rows of different lengths, of float32.

    Attributes:
        longest: elements of the longest row.
        room: rows that kernels take; those that a call has not are empty.
        even: whether all rows are as long as the longest one.
    """

    longest: int = size(4096)
    room: int = kind(ROOMS[0], allowed=ROOMS, short="room")
    even: bool = data(False)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Lengths from none to the longest."""
        last = self.room - 1
        parts = (last if self.even else 3 * number % self.room for number in range(self.room))
        lengths = (self.longest * part // last for part in parts)
        return {"alpha": 0.75} | {element("length", number): length for number, length in enumerate(lengths)}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """As verification has them."""
        return self.tensors_with(self.scalars)

    def tensors_with(self, scalars: Mapping[str, float]) -> tuple[Tensor, ...]:
        """The rows of x, then those of out."""
        lengths = [scalars[element("length", number)] for number in range(self.room)]
        return tuple(
            Tensor.flat(element(name, number), DType.FLOAT32, length, role, 4)  # type: ignore[arg-type]
            for name, role in (("x", Role.INPUT), ("out", Role.OUTPUT))
            for number, length in enumerate(lengths)
        )

    @property
    def work(self) -> Work:
        """Each row is read once and written once."""
        return Work(self.tensor_bytes, {Unit.FP32: self.tensor_bytes // 8})

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers."""
        random = np.random.default_rng(seed)
        return {one.name: random.standard_normal(one.size).astype(np.float32) for one in self.tensors[: self.room]}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """A product is exact but for one rounding."""
        alpha = np.float32(scalars["alpha"])
        return {element("out", number): alpha * inputs[element("x", number)] for number in range(self.room)}
