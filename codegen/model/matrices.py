"""Problems whose operands are batches of row-major matrices, and where these are in memory."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from .dtype import DType
from .integers import widest_divisor
from .operand_layout import OperandLayout
from .problem import Problem
from .tensor import EXACT, Judgement, Role, Tensor


@dataclass(frozen=True)
class MatrixProblem(Problem):
    """A problem with the fields ``ld<x>`` and ``align_<x>`` for each operand ``<x>``.

    A problem of batches has the fields ``batch``, and ``stride_<x>`` for each operand, too.

    A leading dimension counts elements from a row to the next as stored, a stride those from a matrix to the next, and
    an alignment the bytes that the pointer is a multiple of. A leading dimension of 0 means rows without gaps. A stride
    of 0 means matrices without gaps or, for an operand in `broadcast`, one matrix that the whole batch shares; in a
    batch of one it is always 0.
    """

    broadcast: ClassVar[frozenset[str]] = frozenset()
    written: ClassVar[frozenset[str]] = frozenset()

    @property
    @abstractmethod
    def stored(self) -> Mapping[str, tuple[int, int]]:
        """Rows and columns as stored, by operand."""

    @abstractmethod
    def element_bytes_of(self, operand: str) -> int:
        """Bytes of an element of an operand."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for operand in self.stored:
            self._resolve(operand)
        for operand in self.written:
            self._check_apart(operand)

    def layout_of(self, operand: str) -> tuple[int, int, int]:
        """Leading dimension, stride (0 in a problem without batches) and alignment of an operand."""
        leading, align = (getattr(self, f"{name}{operand}") for name in ("ld", "align_"))
        return leading, getattr(self, f"stride_{operand}", 0), align

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`."""
        return {operand: self._layout(operand) for operand in self.stored}

    def matrix_elements(self, operand: str) -> int:
        """Elements from the first to the last one of a matrix, gaps included."""
        rows, columns = self.stored[operand]
        return (rows - 1) * self.layout_of(operand)[0] + columns if rows and columns else 0

    def bytes_of(self, operand: str) -> int:
        """Bytes of the elements of an operand; one matrix that the whole batch shares counts once."""
        rows, columns = self.stored[operand]
        shared = getattr(self, f"stride_{operand}", 0) == 0
        return rows * columns * self.element_bytes_of(operand) * (1 if shared else self._batch)

    def vector_width(self, operand: str) -> int:
        """Elements of the widest access, of 16 bytes at most, that every row of an operand is aligned for."""
        leading, stride, align = self.layout_of(operand)
        return widest_divisor(align // self.element_bytes_of(operand), leading, stride)

    def usual(self, name: str) -> int:
        """See `Problem.usual`: rows and matrices without gaps."""
        operand = name[-1]
        rows, columns = self.stored[operand]
        if name.startswith("ld"):
            return max(1, columns)
        if name.startswith("stride_"):
            shared = self._batch == 1 or operand in self.broadcast
            return 0 if shared else rows * self.layout_of(operand)[0]
        return super().usual(name)

    def tensor(self, operand: str, dtype: DType, role: Role, judged: Judgement = EXACT) -> Tensor:
        """An operand as a tensor of shape (batch, rows, columns), or (rows, columns) in a problem without batches."""
        leading, stride, align = self.layout_of(operand)
        shape, strides = self.stored[operand], (leading, 1)
        if "batch" not in self.__dataclass_fields__:
            return Tensor(operand, dtype, shape, strides, role, align, judged)
        return Tensor(operand, dtype, (self._batch, *shape), (stride, *strides), role, align, judged)

    def _layout(self, operand: str) -> OperandLayout:
        leading, stride, align = self.layout_of(operand)
        batched = hasattr(self, f"stride_{operand}")
        return OperandLayout(
            shape=(*([self._batch] if batched else []), *self.stored[operand]),
            strides=(stride, leading) if batched else (leading,),
            fields=(f"stride_{operand}", f"ld{operand}") if batched else (f"ld{operand}",),
            alignment=align,
            alignment_field=f"align_{operand}",
            element_bytes=self.element_bytes_of(operand),
        )

    @property
    def _batch(self) -> int:
        batch: int = getattr(self, "batch", 1)
        return batch

    def _resolve(self, operand: str) -> None:
        """Check an operand's layout, and replace zeros by the leading dimension or stride that they mean."""
        leading, stride, _ = self.layout_of(operand)
        rows, columns = self.stored[operand]
        if leading and leading < columns:
            raise ValueError(f"ld{operand}={leading}: expected at least the {columns} elements of a row, or 0")
        self._check_alignment(f"align_{operand}", self.element_bytes_of(operand))
        leading = leading or max(1, columns)
        if self._batch == 1:
            stride = 0
        elif operand not in self.broadcast:
            stride = stride or rows * leading
        object.__setattr__(self, f"ld{operand}", leading)
        if "batch" in self.__dataclass_fields__:
            object.__setattr__(self, f"stride_{operand}", stride)

    def _check_apart(self, operand: str) -> None:
        """Matrices that are written do not overlap: one is behind the other, or their rows are interleaved."""
        leading, stride, _ = self.layout_of(operand)
        matrix, (_, columns) = self.matrix_elements(operand), self.stored[operand]
        interleaved = stride >= columns and (self._batch - 1) * stride + columns <= leading
        if self._batch > 1 and stride < matrix and not interleaved:
            raise ValueError(
                f"stride_{operand}={stride}: matrices of {operand.upper()} overlap; expected at least {matrix}, or 0"
            )
