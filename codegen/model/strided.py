"""Problems whose operands have any number of axes, in any order in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from .dtype import DType
from .fields import layout
from .hardware import WIDEST_ACCESS
from .operand_layout import OperandLayout
from .problem import Problem
from .tensor import EXACT, Judgement, Role, Tensor


@dataclass(frozen=True)
class Axes:
    """The axes of an operand.

    Attributes:
        order: a letter for each axis, such as ``bshd``. The last one's elements are contiguous; the others have strides
            of their own, and may lie in any order. Without gaps they lie in this order.
        broadcast: those along which one part may serve all others, by a stride of 0.
    """

    order: str
    broadcast: str = ""

    @property
    def strided(self) -> str:
        """Those that have a stride."""
        return self.order[:-1]


@dataclass(frozen=True)
class StridedProblem(Problem):
    """A problem that states the axes of its operands in `operands`; their layouts are fields that follow from this.

    For an operand ``x`` of axes ``bshd`` these are ``stride_x_b``, ``stride_x_s``, ``stride_x_h`` and ``align_x``,
    behind the fields of the class. A stride counts elements, an alignment the bytes that the pointer is a multiple of.
    A stride of 0 means that of axes without gaps or, along an axis that may be broadcast, one part for all.
    """

    operands: ClassVar[Mapping[str, Axes]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Declare the fields, before the class becomes a dataclass."""
        super().__init_subclass__(**options)
        for operand, axes in cls.__dict__.get("operands", {}).items():
            for axis in axes.strided:
                meaning = "one part for all" if axis in axes.broadcast else "no gaps"
                help_text = f"elements from one to the next of {operand} along its axis {axis}; 0 means {meaning}."
                cls._declare(f"stride_{operand}_{axis}", layout(short=f"s{operand}{axis}", text=help_text))
            help_text = f"bytes that the pointer {operand} is a multiple of, at most {WIDEST_ACCESS}."
            cls._declare(f"align_{operand}", layout(WIDEST_ACCESS, text=help_text))

    @classmethod
    def _declare(cls, name: str, field: Any) -> None:
        cls.__annotations__[name] = "int"
        setattr(cls, name, field)

    @property
    @abstractmethod
    def extents(self) -> Mapping[str, int]:
        """Elements along each axis, by its letter."""

    @abstractmethod
    def dtype_of(self, operand: str) -> DType:
        """The type of an operand's elements."""

    def __post_init__(self) -> None:
        super().__post_init__()
        extents = self.extents
        for operand, axes in self.operands.items():
            self._check_alignment(f"align_{operand}", self.dtype_of(operand).bytes)
            for axis in reversed(axes.strided):
                name = f"stride_{operand}_{axis}"
                if extents[axis] <= 1 or (getattr(self, name) == 0 and axis not in axes.broadcast):
                    object.__setattr__(self, name, self._usual_stride(operand, axis, extents))

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`."""
        extents = self.extents
        return {operand: self._layout(operand, extents) for operand in self.operands}

    def usual(self, name: str) -> int:
        """See `Problem.usual`: behind all that the axes behind it reach, so that there are no gaps."""
        if not name.startswith("stride_"):
            return super().usual(name)
        _, operand, axis = name.split("_")
        return self._usual_stride(operand, axis, self.extents)

    def bytes_of(self, operand: str) -> int:
        """Bytes of the elements of an operand; a part that serves others counts once."""
        stated = self._layout(operand, self.extents)
        counted = (n for n, stride in zip(stated.shape, (*stated.strides, 1), strict=True) if stride or n == 0)
        return prod(counted) * stated.element_bytes

    def tensor(self, operand: str, role: Role, judged: Judgement = EXACT, in_place: str = "") -> Tensor:
        """An operand as a tensor of its axes.

        Raises:
            ValueError: it is written, and elements of it overlap.
        """
        stated = self._layout(operand, self.extents)
        strides, dtype = (*stated.strides, 1), self.dtype_of(operand)
        return Tensor(operand, dtype, stated.shape, strides, role, stated.alignment, judged, in_place)

    def _layout(self, operand: str, extents: Mapping[str, int]) -> OperandLayout:
        axes = self.operands[operand]
        fields = tuple(f"stride_{operand}_{axis}" for axis in axes.strided)
        return OperandLayout(
            shape=tuple(extents[axis] for axis in axes.order),
            strides=tuple(getattr(self, field) for field in fields),
            fields=fields,
            alignment=getattr(self, f"align_{operand}"),
            alignment_field=f"align_{operand}",
            element_bytes=self.dtype_of(operand).bytes,
        )

    def _usual_stride(self, operand: str, axis: str, extents: Mapping[str, int]) -> int:
        axes = self.operands[operand]
        if axis in axes.broadcast:
            return 0
        behind = axes.order[axes.order.index(axis) + 1 :]
        return max(1, *(extents[one] * getattr(self, f"stride_{operand}_{one}", 1) for one in behind))
