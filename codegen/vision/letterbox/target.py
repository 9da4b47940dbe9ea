"""What pictures become, whatever their sizes: the targets of letterbox's problems."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.tensor import Role, Tensor, row_major

from .rule import Place, Rule, placed, resized

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
CHANNELS = 3
PLACEMENT = 3  # scale, left, top


class Order(StrEnum):
    """The axes of the target."""

    NCHW = "nchw"
    NHWC = "nhwc"


class Targets(Problem):
    """A target of some height and width for each picture, whose fields subclasses declare.

    A level becomes (level · scale − mean) / std, rounded after each operation, and at last to the target's type. So
    does the level of what the picture leaves free. There is one right answer for each rule.
    """

    entry: ClassVar[str]
    mixed: ClassVar[bool]  # whether a table on the device says how large each picture is

    height: int
    width: int
    batch: int
    dtype: DType
    order: Order
    rule: Rule
    swap_channels: bool
    scale_up: bool
    center: bool
    normalised: bool
    align_target: int

    @abstractmethod
    def pictures(self, inputs: Mapping[str, Array]) -> Sequence[npt.NDArray[np.uint8]]:
        """Each of shape (height, width, 3)."""

    @abstractmethod
    def reached(self, columns: int) -> int:
        """Pixels of a row of a picture that make so many neighbours of the target, at most."""

    @property
    @abstractmethod
    def enlarges(self) -> bool:
        """Whether pictures are smaller than their places, as far as anybody knows."""

    @property
    @abstractmethod
    def row_alignment(self) -> int:
        """Bytes that copies of a picture's rows may have at once, at most 16; 0 where rows cannot be copied."""

    @property
    def widest(self) -> int:
        """Neighbours that one store of up to 16 bytes has, wherever they are in a target."""
        return widest_divisor(self.align_target // self.dtype.bytes, self.width)

    def placed(self, height: int, width: int) -> Place:
        """Where a picture lies in its target."""
        return placed(height, width, (self.height, self.width), self.scale_up, self.center)

    def channel_tensors(self) -> tuple[Tensor, ...]:
        """Perhaps ``mean`` and ``std``."""
        names = ("mean", "std") if self.normalised else ()
        return tuple(Tensor.flat(name, DType.FLOAT32, CHANNELS, Role.INPUT, 4) for name in names)

    def results(self) -> tuple[Tensor, ...]:
        """``target``, and as ``placement`` the scale, left and top of each picture."""
        sides, placement = (self.height, self.width), (self.batch, PLACEMENT)
        shape = (self.batch, *((CHANNELS, *sides) if self.order is Order.NCHW else (*sides, CHANNELS)))
        return (
            Tensor("target", self.dtype, shape, row_major(shape), Role.OUTPUT, self.align_target),
            Tensor("placement", DType.FLOAT32, placement, row_major(placement), Role.OUTPUT, 4),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """Those of YOLO."""
        return {"pad": 114.0, "scale": 1 / 255}

    def channel_inputs(self, random: np.random.Generator) -> dict[str, Array]:
        """Deviations that are no powers of two."""
        if not self.normalised:
            return {}
        bounds = {"mean": (0.3, 0.6), "std": (0.2, 0.3)}
        return {name: random.uniform(*ends, CHANNELS).astype(np.float32) for name, ends in bounds.items()}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """See `rule.py`."""
        pad, scale = (np.float32(scalars[name]) for name in ("pad", "scale"))
        levels = np.full((self.batch, self.height, self.width, CHANNELS), pad, np.float32)
        placement = np.zeros((self.batch, PLACEMENT), np.float32)
        for number, picture in enumerate(self.pictures(inputs)):
            place = self.placed(*picture.shape[:2])
            placement[number] = place.ratio, place.left, place.top
            inside = levels[number, place.top : place.top + place.height, place.left : place.left + place.width]
            if inside.size:
                inside[...] = resized(picture, place.height, place.width, self.rule)
        if self.swap_channels:
            levels = levels[..., ::-1]
        numbers = levels * scale
        if self.normalised:
            numbers = (numbers - inputs["mean"]) / inputs["std"]
        if self.order is Order.NCHW:
            numbers = numbers.transpose(0, 3, 1, 2)
        return self.buffers({"target": np.ascontiguousarray(numbers.astype(self.dtype.numpy)), "placement": placement})


def random_levels(random: np.random.Generator, count: int) -> npt.NDArray[np.uint8]:
    """Random levels, the least and the largest among them."""
    levels = random.integers(0, 256, count, np.uint8)
    levels[::11], levels[5::13] = 0, 255
    return levels
