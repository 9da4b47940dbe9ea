"""What to reduce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ...dtype import DType
from ...fields import kind, layout, size
from ...matrices import MatrixProblem
from ...problem import Array
from ...repeated import repeated
from ...tensor import EXACT, Judgement, Role, Tensor, Within
from ...work import Unit, Work
from .operation import Operation

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.INT32)
# Largest error of a sum before it is rounded, relative to the sum of the terms' absolute values: 16 roundings of float.
_SUM_ERROR = 2.0**-20


class Axis(StrEnum):
    """Which elements make one result."""

    ALL = "all"  # the whole matrix, as one row
    LAST = "last"  # a row
    FIRST = "first"  # a column


@dataclass(frozen=True)
class ReduceProblem(MatrixProblem):
    """y = a sum, a mean, a norm, an extreme or its index, over all elements of a row-major matrix or along an axis.

    Or a dot product, or the norm of a difference, of two matrices. Sums of floats are accumulated in float32, and what
    follows from them is rounded once. Sums of int32 are int64, and so are indices. A maximum or minimum with a NaN
    among its elements is NaN, and its index is that of the first NaN. Of equal elements, the first one has the index.
    Sums and norms of nothing are 0, the mean is NaN; a maximum or minimum of nothing does not exist.

    Attributes:
        rows, columns: of the matrix. Over all elements it is stored as one row.
        op: what is computed.
        axis: along which axis.
        dtype: of the elements.
        ldx: elements from one row to the next, of both matrices where there are two; 0 stands for rows without gaps.
        align_x: bytes that the addresses of matrices are a multiple of, at most 16.
    """

    rows: int = size(4096, most=None)
    columns: int = size(4096, most=None)
    op: Operation = kind(Operation.SUM)
    axis: Axis = kind(Axis.LAST)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    ldx: int = layout()
    align_x: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axis is Axis.ALL:
            self._resolve_one_row()
        self.op.result_dtype(self.dtype)
        if not self.op.adds and not self.reduced:
            raise ValueError(
                f"rows={self.rows}, columns={self.columns}: {self.op} of no elements along axis={self.axis}"
            )

    def _resolve_one_row(self) -> None:
        if self.rows > 1 and self.ldx > self.columns > 0:
            raise ValueError(f"ldx={self.ldx}: expected the {self.columns} elements of a row, or 0, for axis=all")
        columns = self.rows * self.columns
        for name, value in (("rows", 1), ("columns", columns), ("ldx", max(1, columns))):
            object.__setattr__(self, name, value)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``."""
        return {"x": (self.rows, self.columns)}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`."""
        return self.dtype.bytes

    def vector_width(self, operand: str) -> int:
        """See `MatrixProblem.vector_width`; a row that is reduced may begin between vectors."""
        aligned_rows = self.axis is Axis.FIRST and self.rows > 1
        return super().vector_width(operand) if aligned_rows else self.align_x // self.dtype.bytes

    @property
    def reduced(self) -> int:
        """Elements of one result."""
        return self.rows if self.axis is Axis.FIRST else self.columns

    @property
    def results(self) -> int:
        """Elements of y."""
        return self.columns if self.axis is Axis.FIRST else self.rows

    @property
    def dim(self) -> int | None:
        """The axis as PyTorch counts it; None for all."""
        return {Axis.ALL: None, Axis.LAST: -1, Axis.FIRST: 0}[self.axis]

    @property
    def result_dtype(self) -> DType:
        """The type of y."""
        return self.op.result_dtype(self.dtype)

    @property
    def element_bytes(self) -> int:
        """Bytes of an element of all arrays."""
        return self.op.arrays * self.dtype.bytes

    @property
    def work(self) -> Work:
        """Every element read once, every result written once; what floating-point terms and their sum take."""
        if not self.results:
            return Work(0)
        elements = self.rows * self.columns
        operations = elements * self.op.operations if self.rounded else 0
        return Work(elements * self.element_bytes + self.results * self.result_dtype.bytes, {Unit.FP32: operations})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x`` of shape (rows, columns), ``other`` that lies like it where there are two, and ``y`` without gaps."""
        x, result = self.tensor("x", self.dtype, Role.INPUT), self.result_dtype
        y = Tensor.flat("y", result, self.results, Role.OUTPUT, result.bytes, self._judged)
        return (x, replace(x, name="other"), y) if self.op.arrays == 2 else (x, y)

    @property
    def rounded(self) -> bool:
        """Whether results are rounded: those of sums of floats, which may be off by what `sum_error_weight` says."""
        return self.op.adds and self.dtype.is_float

    @property
    def _judged(self) -> Judgement:
        return Within.rounded(self.dtype) if self.rounded else EXACT

    @property
    def sum_error_weight(self) -> float:
        """The weight w in ``y_scale`` = |y| + w·m, relative to which y may be off by its roundoff.

        m is what y would be if all terms of its sum had the same sign: Σ|x| of a sum.
        """
        return _SUM_ERROR / self.dtype.roundoff

    def inputs(self, seed: int) -> dict[str, Array]:
        """For sums normal numbers, or integers whose sums leave 32 bits; else whole numbers with many ties."""
        random = np.random.default_rng(seed)
        *read, _ = self.tensors

        def draw(count: int) -> Array:
            if not self.op.adds:
                values = random.integers(-100, 101, count, np.int8)
            elif self.dtype.is_float:
                values = random.standard_normal(count, np.float32)
            else:
                values = random.integers(-(2**31), 2**31, count, np.int32)
            return values.astype(self.dtype.numpy)

        return {tensor.name: repeated(draw, tensor.size) for tensor in read}

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """For floating-point sums, whole numbers other than 0; up to 5 million of them have an exact sum in FP32.

        Of products, it is a third as many. A quotient or a root of a sum is seldom exact.
        """
        if not self.rounded or self.op not in (Operation.SUM, Operation.DOT):
            return None
        random = np.random.default_rng(seed)
        *read, _ = self.tensors
        numbers = np.array([-3, -2, -1, 1, 2, 3], np.float32).astype(self.dtype.numpy)
        return {tensor.name: repeated(lambda count: random.choice(numbers, count), tensor.size) for tensor in read}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y, and where it is rounded ``y_scale``."""
        *read, y = self.tensors
        arrays, axis = [tensor.view(inputs[tensor.name]) for tensor in read], 0 if self.axis is Axis.FIRST else 1
        if self.rounded:
            terms = self.op.terms(*(elements.astype(np.float64) for elements in arrays))
            with np.errstate(invalid="ignore"):  # infinities of both signs
                total = self.op.of_sum(terms.sum(axis), self.reduced)
            magnitude = self.op.of_sum(np.abs(terms).sum(axis), self.reduced)
            return {"y": total, "y_scale": np.abs(total) + self.sum_error_weight * magnitude}
        elements = arrays[0]
        if self.op is Operation.SUM:
            return {"y": elements.sum(axis, dtype=np.int64)}
        # float32 holds all of its values: NumPy knows no order of bfloat16's NaN.
        numbers = elements.astype(np.float32) if self.dtype.is_float else elements
        return {"y": self.op.extreme(numbers, axis).astype(y.dtype.numpy)}
