"""An array argument of a kernel: its elements, where they lie in a flat buffer, and how its result is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from math import prod
from operator import mul
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .dtype import DType
from .indices import Indices
from .integers import ceil_div


class Role(StrEnum):
    """How a kernel uses a tensor."""

    INPUT = "input"
    OUTPUT = "output"
    IN_OUT = "in_out"


@dataclass(frozen=True)
class Exact:
    """An output is right bit for bit; a floating-point NaN may be any NaN."""


@dataclass(frozen=True)
class Within:
    """An element is right if |actual − expected| ≤ absolute + relative·scale.

    The scale is |expected|, or the element of the array ``<name>_scale`` if the reference states one: a sum is judged
    relative to the sum of its terms' absolute values. Equal infinities are right, NaN must meet NaN.
    """

    absolute: float = 0.0
    relative: float = 0.0

    @classmethod
    def rounded(cls, dtype: DType, absolute: float = 0.0, relative: float = 0.0) -> Self:
        """The errors of a computation, and that of rounding its result to the output's dtype, once."""
        return cls(absolute + dtype.smallest / 2, relative + dtype.roundoff)


@dataclass(frozen=True)
class Checked:
    """An output has several right answers: `Problem.check`, and on a GPU `Operator.checker`, say whether it is one.

    Attributes:
        rule: what is right, for messages, such as ``the keys of x in order``.
    """

    rule: str

    def __str__(self) -> str:
        return self.rule


Judgement = Exact | Within | Checked
EXACT = Exact()


@dataclass(frozen=True)
class Extent:
    """How many elements along an axis an output has, where the kernel finds that out. Those behind them are gaps.

    Attributes:
        count: the name of the output, of int32, that says how many: one element for each index of the axes ahead of
            `axis`, in row-major order.
        axis: the axis that is counted.
    """

    count: str
    axis: int = 0


@dataclass(frozen=True)
class Tensor:
    """One array argument, seen as the flat buffer from its first element to its last one.

    The buffer's elements that no index reaches are gaps: no kernel may write them, or use what they hold.

    Attributes:
        name: the pointer's name in the kernel's argument struct.
        dtype: the type of the elements.
        shape: elements along each axis.
        strides: elements from one to the next along each axis. Axes may lie in any order (the rows of many matrices
            interleaved); of an input they may overlap, and a stride of 0 broadcasts it.
        role: whether the kernel reads it, writes it, or both.
        alignment: bytes that the pointer is a multiple of, at least the element size.
        judged: how an output is judged.
        in_place: of an output, the input whose array it may be as well: one of the same dtype, layout and alignment.
        extent: of an output, how much of it there is, if another output says that.
        row_axes: of an output, the leading axes whose indices number the rows of which `Problem.sampled_rows` chooses;
            0 if all elements are judged.
        first_row: the number of its first row, where outputs have rows of several kinds.
        indices: of an input of integers, which of them it may hold.
    """

    name: str
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    role: Role
    alignment: int
    judged: Judgement = EXACT
    in_place: str = ""
    extent: Extent | None = None
    row_axes: int = 0
    first_row: int = 0
    indices: Indices | None = None

    def __post_init__(self) -> None:
        if len(self.shape) != len(self.strides) or any(one < 0 for one in (*self.shape, *self.strides)):
            raise ValueError(
                f"{self.name} of shape {self.shape} has strides {self.strides}: expected one for each axis, 0 or more"
            )
        if self.role is not Role.INPUT and overlapping(self.shape, self.strides):
            raise ValueError(f"{self.name} is written, and of its shape {self.shape}, strides {self.strides} overlap")

    @classmethod
    def flat(
        cls,
        name: str,
        dtype: DType,
        size: int,
        role: Role,
        alignment: int,
        judged: Judgement = EXACT,
        *,
        indices: Indices | None = None,
    ) -> Self:
        """A tensor of one axis without gaps."""
        return cls(name, dtype, (size,), (1,), role, alignment, judged, indices=indices)

    @property
    def size(self) -> int:
        """Elements of the flat buffer, gaps included."""
        return (
            0 if 0 in self.shape else 1 + sum((n - 1) * step for n, step in zip(self.shape, self.strides, strict=True))
        )

    @property
    def bytes(self) -> int:
        """Bytes of the flat buffer."""
        return ceil_div(self.size * self.dtype.bits, 8)

    @property
    def own_bytes(self) -> int:
        """Bytes of its elements, without gaps; what an axis of stride 0 repeats counts once."""
        moving = (extent if step else min(extent, 1) for extent, step in zip(self.shape, self.strides, strict=True))
        return ceil_div(prod(moving) * self.dtype.bits, 8)

    @property
    def axes(self) -> tuple[tuple[int, int], ...]:
        """`joined_axes` of its shape and strides."""
        return joined_axes(self.shape, self.strides)

    @property
    def moving_axes(self) -> list[int]:
        """The axes of an output with more than one element, the largest stride first."""
        moving = [axis for axis, extent in enumerate(self.shape) if extent > 1]
        return sorted(moving, key=self.strides.__getitem__, reverse=True)

    @property
    def dense(self) -> bool:
        """Whether there are no gaps."""
        return self.size <= 1 or self.axes == ((self.size, 1),)

    @property
    def inside(self) -> npt.NDArray[np.bool_] | None:
        """For each element of the flat buffer, whether it is one of the tensor's; None if all of them are."""
        if self.dense:
            return None
        mask = np.zeros(self.size, np.bool_)
        extents, strides = zip(*self.axes, strict=True)
        np.lib.stride_tricks.as_strided(mask, extents, strides)[...] = True
        return mask

    def counted(self, counts: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """For each element of an output's flat buffer, whether it is one of the tensor's that `extent` leaves."""
        assert self.extent
        axis, mask = self.extent.axis, np.zeros(self.size, np.bool_)
        number, behind = np.arange(self.shape[axis]), (1,) * (len(self.shape) - axis - 1)
        before = number < counts.reshape(*self.shape[:axis], 1)
        self.view(mask)[...] = before.reshape(*before.shape, *behind)
        return mask

    @property
    def rows_end(self) -> int:
        """The number behind that of its last row."""
        return self.first_row + prod(self.shape[: self.row_axes])

    def own_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Those of some rows that are an output's own, counted from its first one."""
        return rows[(rows >= self.first_row) & (rows < self.rows_end)] - self.first_row

    def of_rows(self, rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """For each element of an output's flat buffer, whether it is of one of these rows."""
        mask = np.zeros(self.size, np.bool_)
        chosen = np.zeros(self.shape[: self.row_axes], np.bool_)
        chosen.reshape(-1)[self.own_rows(rows)] = True
        self.view(mask)[...] = chosen.reshape(*chosen.shape, *(1,) * (len(self.shape) - self.row_axes))
        return mask

    def place(self, index: int) -> tuple[int, ...] | None:
        """The indices of an element of an output's flat buffer along each axis; None if it is of a gap."""
        found = [0] * len(self.shape)
        for axis in self.moving_axes:
            found[axis], index = divmod(index, self.strides[axis])
            if found[axis] >= self.shape[axis]:
                return None
        return None if index else tuple(found)

    def indices_of(self, index: int) -> str:
        """`place` for people, such as ``[3, 17]``; empty of a gap, and where there is one axis."""
        place = self.place(index)
        return str(list(place)) if place and len(place) > 1 else ""

    def reaches(self, index: int, count_at: Callable[[int], int] | None = None) -> bool:
        """Whether an element of an output's flat buffer is one of the tensor's, and not of a gap.

        `count_at` gives an element of the output that `extent` names.
        """
        place = self.place(index)
        if place is None or not self.extent or not count_at:
            return place is not None
        axis, number = self.extent.axis, 0
        for along, extent in zip(place[:axis], self.shape[:axis], strict=True):
            number = number * extent + along
        return place[axis] < count_at(number)

    def view(self, flat: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The elements of a flat buffer, of any type, in the tensor's shape."""
        strides = [step * flat.itemsize for step in self.strides]
        bits = flat.view(f"u{flat.itemsize}")  # NumPy's array interface has no name for some types of ml_dtypes
        return np.lib.stride_tricks.as_strided(bits, self.shape, strides).view(flat.dtype)


def joined_axes(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
    """Extent and stride of the fewest axes that reach the same elements, the largest stride first.

    Axes of extent 1 or stride 0 reach nothing more, and an axis that goes on where another one ends is joined with it,
    so that an array without gaps has at most one axis, of stride 1.
    """
    if 0 in shape:
        return ()
    joined: list[tuple[int, int]] = []
    for step, n in sorted((step, n) for n, step in zip(shape, strides, strict=True) if n > 1 and step):
        if joined and step == joined[-1][0] * joined[-1][1]:
            joined[-1] = n * joined[-1][0], joined[-1][1]
        else:
            joined.append((n, step))
    return tuple(reversed(joined))


def overlapping(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether an axis steps onto elements that others have reached (or, of a stride of 0, its own)."""
    if 0 in shape:
        return False
    axes = [(step, n) for n, step in zip(shape, strides, strict=True) if n > 1]
    return _meeting(reversed(axes)) and _meeting(sorted(axes))  # most are in order


def _meeting(axes: Iterable[tuple[int, int]]) -> bool:
    """Whether one of some axes, each a step and a number of them, begins within those before it."""
    reached = 0
    for step, n in axes:
        if step <= reached:
            return True
        reached += (n - 1) * step
    return False


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array without gaps whose last axis is contiguous."""
    return tuple(reversed(list(accumulate(reversed(shape[1:]), mul, initial=1)))) if shape else ()
