"""What a softmax computes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from ...dtype import DType
from ...fields import kind, layout, size
from ...matrices import MatrixProblem
from ...problem import Array
from ...repeated import repeated
from ...tensor import Role, Tensor, Within
from ...work import Unit, Work
from ..invariance import chosen_by_columns

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
MOST_COLUMNS = 2**30  # so that a column beyond the last round is a 32-bit number, too
_Row = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SoftmaxProblem(MatrixProblem):
    """y[r] = softmax(x[r] / temperature) for each row r, accumulated in FP32.

    With lengths, the columns of row r from lengths[r] on count as -infinity, whatever they hold. A row of nothing but
    -infinity, or with NaN or infinity in it, is NaN in all columns, as in PyTorch.

    Attributes:
        rows, columns: of x and y.
        dtype: of the elements of x and y.
        lengths: whether each row has a length of its own, of type int32.
        batch_invariant: whether the bits of a row's result may depend on nothing but the row and how rows are aligned.
        ldx, ldy: elements from one row to the next; 0 stands for rows without gaps.
        align_x, align_y: bytes that the pointers are a multiple of, at most 16.
    """

    written = frozenset("y")

    rows: int = size(4096, most=None)
    columns: int = size(4096, most=MOST_COLUMNS)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    lengths: bool = kind(False, codes=("", "lengths"))
    batch_invariant: bool = kind(False, codes=("", "batchinvariant"), transfers=True)
    ldx: int = layout()
    align_x: int = layout(16)
    ldy: int = layout()
    align_y: int = layout(16)

    @property
    def chosen_as(self) -> Self | None:
        """See `Problem.chosen_as`."""
        return chosen_by_columns(self)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x`` and ``y``."""
        return {"x": (self.rows, self.columns), "y": (self.rows, self.columns)}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`."""
        return self.dtype.bytes

    @property
    def widths(self) -> tuple[int, int]:
        """Elements of the widest accesses to x and y."""
        return self.vector_width("x"), self.vector_width("y")

    def alike(self, width: int) -> bool:
        """Whether vectors of so many elements, aligned in x, are aligned in y: rows share their address modulo one."""
        size = width * self.dtype.bytes
        together = self.align_x >= size and self.align_y >= size and (self.ldx - self.ldy) % width == 0
        return together or width <= min(self.widths)

    @property
    def work(self) -> Work:
        """x is read once, y is written once; an element takes an exponential, two additions and two products.

        With lengths, half of x is read, which is what `inputs` ask for.
        """
        elements = self.rows * self.columns
        read = elements // 2 if self.lengths else elements
        lengths = DType.INT32.bytes * self.rows if self.lengths and elements else 0
        return Work(
            (elements + read) * self.dtype.bytes + lengths,
            {Unit.FP32: 4 * elements, Unit.SPECIAL: elements},
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``y``, which may be ``x`` if it lies alike, and, if there are any, ``lengths``."""
        x = self.tensor("x", self.dtype, Role.INPUT)
        y = self.tensor("y", self.dtype, Role.OUTPUT, self._tolerance)
        alike = self.layout_of("x") == self.layout_of("y")
        lengths = Tensor.flat("lengths", DType.INT32, self.rows, Role.INPUT, DType.INT32.bytes)
        return (x, replace(y, in_place="x") if alike else y, *([lengths] if self.lengths else []))

    @property
    def _tolerance(self) -> Within:
        """The exponent z of 2^z has a relative error of about four unit roundoffs, so 2^z has one of 2^-22.5·|z|.

        That is below 2^-18 down to 2^-22, and of smaller results the absolute error is below 2^-44. The functions, the
        sum (of at most some hundred terms in a row, then of pairs) and its reciprocal add less than 2^-20.
        """
        return Within.rounded(self.dtype, absolute=2.0**-44, relative=2.0**-18)

    @property
    def scalars(self) -> Mapping[str, float]:
        """The temperature is 1 without lengths, where PyTorch is called, which has none.

        With lengths, PyTorch divides by it before the maximum is subtracted: by a power of two, which is exact.
        """
        return {"temperature": 0.5 if self.lengths else 1.0}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, but for rows of each kind of `_SPECIAL`; lengths from 0 to all columns, in random order."""
        random = np.random.default_rng(seed)
        x = self.tensors[0]
        flat = repeated(lambda count: (4 * random.standard_normal(count, np.float32)).astype(x.dtype.numpy), x.size)
        for number, special in zip(_chosen(random, self.rows, len(_SPECIAL)), _SPECIAL, strict=False):
            if self.columns:
                row = x.view(flat)[number].astype(np.float32)
                special(row, random)
                x.view(flat)[number] = row
        buffers = {"x": flat}
        if self.lengths:
            steps = np.arange(self.rows, dtype=np.int64) * self.columns // max(1, self.rows - 1)
            buffers["lengths"] = random.permutation(steps).astype(np.int32)
        return buffers

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y in float64."""
        x, y = self.tensors[:2]
        values = x.view(inputs["x"]).astype(np.float64)
        if self.lengths:
            values[np.arange(self.columns) >= inputs["lengths"][:, None]] = -np.inf
        flat = np.zeros(y.size)
        with np.errstate(invalid="ignore"):  # infinity - infinity
            values -= values.max(axis=1, keepdims=True, initial=-np.inf)
            terms = np.exp(values / scalars["temperature"])
            y.view(flat)[...] = terms / terms.sum(axis=1, keepdims=True)
        return {"y": flat}


def _chosen(random: np.random.Generator, rows: int, count: int) -> npt.NDArray[np.int64]:
    """Rows to make special, at most half of them."""
    return random.choice(rows, min(count, rows // 2), replace=False) if rows > 1 else np.zeros(0, np.int64)


def _large_offset(row: _Row, random: np.random.Generator) -> None:
    row += np.float32(1e4)


def _constant(row: _Row, random: np.random.Generator) -> None:
    row[:] = row[0]


def _largest_last(row: _Row, random: np.random.Generator) -> None:
    row[-1] = 40


def _partly_impossible(row: _Row, random: np.random.Generator) -> None:
    """-infinity here and there, and throughout the first half: a running maximum begins with it."""
    row[random.integers(0, row.size, row.size // 3)] = -np.inf
    row[: row.size // 2] = -np.inf
    row[-1] = 0


def _all_impossible(row: _Row, random: np.random.Generator) -> None:
    row[:] = -np.inf


def _infinite(row: _Row, random: np.random.Generator) -> None:
    row[random.integers(row.size)] = np.inf


def _not_a_number(row: _Row, random: np.random.Generator) -> None:
    row[random.integers(row.size)] = np.nan


_SPECIAL: tuple[Callable[[_Row, np.random.Generator], None], ...] = (
    _partly_impossible,
    _large_offset,
    _largest_last,
    _all_impossible,
    _infinite,
    _not_a_number,
    _constant,
)
