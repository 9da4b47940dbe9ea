"""Where an operand of a problem is in memory, by the fields of the problem that say so."""

from __future__ import annotations

from dataclasses import dataclass

from .integers import widest_divisor


@dataclass(frozen=True)
class OperandLayout:
    """Shape, strides and alignment of an operand; what changes layouts, such as a test, needs to know no more.

    Attributes:
        shape: elements along each axis, those of contiguous elements last.
        strides: elements from one to the next along each axis but the last.
        fields: of the problem, that state the strides.
        alignment: bytes that the pointer is a multiple of.
        alignment_field: of the problem, that states it.
        element_bytes: of an element.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    fields: tuple[str, ...]
    alignment: int
    alignment_field: str
    element_bytes: int

    @property
    def vector_width(self) -> int:
        """Elements of the widest access that all rows of contiguous elements are aligned for."""
        return widest_divisor(self.alignment // self.element_bytes, *self.strides)

    def spread(self, axis: int, stride: int, times: int = 1) -> dict[str, int]:
        """The fields of a layout with another stride along an axis, and strides of the axes before it that follow.

        Args:
            axis: its number.
            stride: elements.
            times: how much farther apart than needed the axes before it are.
        """
        fields = {self.fields[axis]: stride}
        for outer in reversed(range(axis)):
            stride *= self.shape[outer + 1] * times
            if self.strides[outer]:  # one matrix that a whole batch shares stays one
                fields[self.fields[outer]] = stride
        return fields
