"""What to reduce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, layout, size
from autotune.codegen.model.indices import Indices, Order, Spread
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import EXACT, Judgement, Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

from .lines import Lines
from .operation import Operation

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.INT32)
# Largest error of a sum before it is rounded, relative to the sum of the terms' absolute values: 16 roundings of float.
_SUM_ERROR = 2.0**-20


class Axis(StrEnum):
    """Which elements make one result."""

    ALL = "all"  # the whole matrix, as one row
    LAST = "last"  # a row
    FIRST = "first"  # a column
    SEGMENTS = "segments"  # a part of the whole matrix, as one row, that offsets in memory bound


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
        segments: of which `axis` segments has an offset each where it begins, and the end of the last one.
        offset_dtype: of the offsets, int32 or int64.
        spread: how long segments are.
        ldx: elements from one row to the next, of both matrices where there are two; 0 stands for rows without gaps.
        align_x: bytes that the addresses of matrices are a multiple of, at most 16.
    """

    rows: int = size(4096, most=None)
    columns: int = size(4096, most=None)
    op: Operation = kind(Operation.SUM)
    axis: Axis = kind(Axis.LAST)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    segments: int = size(1024, implied=0, most=None)
    offset_dtype: DType = kind(DType.INT64, allowed=(DType.INT32, DType.INT64), implied=DType.INT64)
    spread: Spread = data(Spread.RANDOM)
    ldx: int = layout()
    align_x: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.axis in (Axis.ALL, Axis.SEGMENTS):
            self._resolve_one_row()
        self._check_segments()
        self.op.result_dtype(self.dtype)
        if not (self.op.adds or self.in_segments or self.reduced):
            raise ValueError(
                f"rows={self.rows}, columns={self.columns}: {self.op} of no elements along axis={self.axis}"
            )

    def _resolve_one_row(self) -> None:
        if self.rows > 1 and self.ldx > self.columns > 0:
            raise ValueError(
                f"ldx={self.ldx}: expected the {self.columns} elements of a row, or 0, for axis={self.axis}"
            )
        columns = self.rows * self.columns
        for name, value in (("rows", 1), ("columns", columns), ("ldx", max(1, columns))):
            object.__setattr__(self, name, value)

    def _check_segments(self) -> None:
        if self.in_segments != (self.segments > 0):
            expected = "at least 1 with" if self.in_segments else "0 without"
            raise ValueError(f"segments={self.segments}: expected {expected} axis=segments")
        if self.spread is not Spread.RANDOM and not self.in_segments:
            raise ValueError(f"spread={self.spread}: expected random without axis=segments")
        if self.offset_dtype is DType.INT32 and (not self.in_segments or self.columns > INT_MAX):
            expected = f"int64 for {self.columns} elements" if self.in_segments else "int64 without axis=segments"
            raise ValueError(f"offset_dtype=int32: expected {expected}")

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
    def in_segments(self) -> bool:
        """Whether offsets in memory bound what makes a result."""
        return self.axis is Axis.SEGMENTS

    @property
    def reduced(self) -> int:
        """Elements of one result; of a segment, the average."""
        return ceil_div(self.columns, self.segments) if self.in_segments else self.longest

    @property
    def longest(self) -> int:
        """Elements of one result, at most."""
        return self.rows if self.axis is Axis.FIRST else self.columns

    @property
    def results(self) -> int:
        """Elements of y."""
        if self.in_segments:
            return self.segments
        return self.columns if self.axis is Axis.FIRST else self.rows

    @property
    def dim(self) -> int | None:
        """The axis as PyTorch counts it; None for all elements, segments of them too."""
        return {Axis.LAST: -1, Axis.FIRST: 0}.get(self.axis)

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
        operations = self.rows * self.columns * self.op.operations if self.results and self.rounded else 0
        return Work(self.tensor_bytes, {Unit.FP32: operations})

    @property
    def _bounds(self) -> Indices:
        """What offsets may be."""
        return Indices(self.columns, order=Order.BOUNDS)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x`` of shape (rows, columns), ``other`` that lies like it where there are two, ``offsets``, and ``y``."""
        x, result = self.tensor("x", self.dtype, Role.INPUT), self.result_dtype
        y = Tensor.flat("y", result, self.results, Role.OUTPUT, result.bytes, self._judged)
        arrays = (x, replace(x, name="other"))[: self.op.arrays]
        dtype = self.offset_dtype
        bounds = Tensor.flat("offsets", dtype, self.segments + 1, Role.INPUT, dtype.bytes, indices=self._bounds)
        return (*arrays, bounds, y) if self.in_segments else (*arrays, y)

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

        def draw(count: int) -> Array:
            if not self.op.adds:
                values = random.integers(-100, 101, count, np.int8)
            elif self.dtype.is_float:
                values = random.standard_normal(count, np.float32)
            else:
                values = random.integers(-(2**31), 2**31, count, np.int32)
            return values.astype(self.dtype.numpy)

        return self._drawn(random, draw)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """For floating-point sums, whole numbers other than 0; up to 5 million of them have an exact sum in FP32.

        Of products, it is a third as many. A quotient or a root of a sum is seldom exact.
        """
        if not self.rounded or self.op not in (Operation.SUM, Operation.DOT):
            return None
        random = np.random.default_rng(seed)
        numbers = np.array([-3, -2, -1, 1, 2, 3], np.float32).astype(self.dtype.numpy)
        return self._drawn(random, lambda count: random.choice(numbers, count))

    def _drawn(self, random: np.random.Generator, draw: Callable[[int], Array]) -> dict[str, Array]:
        """Arrays of elements, and segments of various lengths."""
        drawn = {t.name: repeated(draw, t.size) for t in self.tensors if t.name in ("x", "other")}
        if self.in_segments:
            drawn["offsets"] = self._bounds.drawn(random, self.segments + 1, self.offset_dtype.numpy, self.spread)
        return drawn

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y, and where it is rounded ``y_scale``."""
        arrays = [t.view(inputs[t.name]) for t in self.tensors if t.name in ("x", "other")]
        lines = Lines(0 if self.axis is Axis.FIRST else 1, inputs["offsets"] if self.in_segments else None)
        if self.rounded:
            terms = self.op.terms(*(elements.astype(np.float64) for elements in arrays))
            count = lines.counts(terms)
            total, magnitude = (self.op.of_sum(lines.sums(one), count) for one in (terms, np.abs(terms)))
            return {"y": total, "y_scale": np.abs(total) + self.sum_error_weight * magnitude}
        elements = arrays[0]
        if self.op is Operation.SUM:
            return {"y": lines.sums(elements.astype(np.int64))}
        # float32 holds all of its values: NumPy knows no order of bfloat16's NaN.
        numbers = elements.astype(np.float32) if self.dtype.is_float else elements
        return {"y": lines.extremes(numbers, self.op).astype(self.result_dtype.numpy)}
