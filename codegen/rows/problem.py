"""Rows that are read and written: the fields that all such operators share, and how their vectors lie."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.matrices import MatrixProblem

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
MOST_COLUMNS = 2**30  # so that a column beyond the last round is a 32-bit number, too


@dataclass(frozen=True)
class RowProblem(MatrixProblem):
    """Rows that are read as the operand ``x``, and written as the one operand in `written`.

    Attributes:
        rows, columns: of each operand.
        dtype: of the elements of x.
    """

    rows: int = size(4096, most=None)
    columns: int = size(4096, most=MOST_COLUMNS)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of what is read and of what is written."""
        return dict.fromkeys(("x", *self.written), (self.rows, self.columns))

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`."""
        return self.dtype.bytes

    @property
    def widths(self) -> tuple[int, int]:
        """Elements of the widest accesses to what is read and to what is written."""
        (written,) = self.written
        return self.vector_width("x"), self.vector_width(written)

    def alike(self, width: int) -> bool:
        """Whether vectors of so many elements, aligned where they are read, are aligned where they are written.

        Rows may begin within vectors: then they share their address modulo one.
        """
        operands = ("x", *self.written)
        (ldx, _, _), (ld, _, _) = map(self.layout_of, operands)
        aligned = all(self.layout_of(operand)[2] >= width * self.element_bytes_of(operand) for operand in operands)
        return (aligned and (ldx - ld) % width == 0) or width <= min(self.widths)
