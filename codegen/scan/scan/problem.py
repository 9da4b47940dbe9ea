"""What to scan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.indices import Indices, Order
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import EXACT, Judgement, Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

from .inputs import factors, flags, levels, middle_level, terms, whole_numbers
from .operation import Operation
from .reference import scanned

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16, DType.FLOAT64, DType.INT32, DType.INT64)
# Roundings of a sum, at most: those of a tile and of the carries before it, and one for each so many elements.
_ROUNDINGS, _ELEMENTS_OF_A_ROUNDING = 64, 1 << 16


@dataclass(frozen=True)
class ScanProblem(MatrixProblem):
    """y[r, i] = the sum, product, maximum or minimum of x[r, 0] … x[r, i] for each row r; one row is all elements.

    float16 and bfloat16 are computed in float32, and each result is rounded once. Integers wrap. A NaN makes what
    follows it NaN. An exclusive scan leaves out x[r, i]; the first result is then 0, 1, or the lowest or highest
    number. A reverse scan takes x[r, i] … x[r, columns - 1] instead. Segments are scanned apart from each other. An
    initial value is combined with every result, and an exclusive scan begins with it.

    Attributes:
        rows, columns: of x and y. With segments, all elements are stored as one row.
        op: what is computed.
        dtype: of the elements of x.
        wide: whether y, and what is computed with, is int64 where x is int32.
        exclusive: whether a result leaves out the element at its own place.
        reverse: whether results are of the elements from their place to the end.
        flags: whether a byte for each element says if a segment begins there.
        offsets: whether segments begin where an ascending array of int64 says.
        segments: of which `offsets` has one begin each, and the end of the last one.
        init: whether there is an initial value, of the type of y.
        ldx, ldy: elements from one row to the next; 0 stands for rows without gaps.
        align_x, align_y, align_flags: bytes that the pointers are a multiple of, at most 16.
    """

    written = frozenset("y")

    rows: int = size(1, most=None)
    columns: int = size(1 << 24, most=None)
    op: Operation = kind(Operation.SUM)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    wide: bool = kind(False, codes=("", "wide"))
    exclusive: bool = kind(False, codes=("", "exclusive"))
    reverse: bool = kind(False, codes=("", "reverse"))
    flags: bool = kind(False, codes=("", "flags"))
    offsets: bool = kind(False, codes=("", "offsets"))
    segments: int = size(1024, implied=0, most=None)
    init: bool = kind(False, codes=("", "init"))
    ldx: int = layout()
    align_x: int = layout(16)
    ldy: int = layout()
    align_y: int = layout(16)
    align_flags: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.wide and (self.dtype is not DType.INT32 or self.op not in (Operation.SUM, Operation.PRODUCT)):
            raise ValueError(f"wide=True: expected a sum or product of int32, not {self.op} of {self.dtype}")
        if self.flags and self.offsets:
            raise ValueError("flags=True, offsets=True: expected one of them")
        if self.segmented:
            self._resolve_one_row()
        if self.offsets != bool(self.segments):
            expected = "at least 1 with offsets" if self.offsets else "0 without offsets"
            raise ValueError(f"segments={self.segments}: expected {expected}")
        self._check_alignment("align_flags")

    def _resolve_one_row(self) -> None:
        for name in ("ldx", "ldy"):
            if self.rows > 1 and getattr(self, name) > self.columns > 0:
                leading = getattr(self, name)
                raise ValueError(f"{name}={leading}: expected the {self.columns} elements of a row, or 0, for segments")
        columns = self.rows * self.columns
        for name, value in (("rows", 1), ("columns", columns), ("ldx", max(1, columns)), ("ldy", max(1, columns))):
            object.__setattr__(self, name, value)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x`` and ``y``."""
        return {"x": (self.rows, self.columns), "y": (self.rows, self.columns)}

    def element_bytes_of(self, operand: str) -> int:
        """Those of the element type of x or y."""
        return self.dtype.bytes if operand == "x" else self.result_dtype.bytes

    def vector_width(self, operand: str) -> int:
        """See `MatrixProblem.vector_width`; a single row may end within a vector."""
        alone = self.layout_of(operand)[2] // self.element_bytes_of(operand)
        return alone if self.rows == 1 else super().vector_width(operand)

    def usual(self, name: str) -> int:
        """See `MatrixProblem`; flags are no matrix."""
        return WIDEST_ACCESS if name == "align_flags" else super().usual(name)

    @property
    def widest(self) -> int:
        """Elements of the widest access that x, y and flags are aligned for."""
        flags = self.align_flags if self.flags else WIDEST_ACCESS
        return min(self.vector_width("x"), self.vector_width("y"), flags)

    @property
    def widest_skewed(self) -> int:
        """Elements of the widest access of which rows begin at the same one in x as in y; `widest` or more."""
        x, y = (self.layout_of(operand) for operand in self.stored)
        if self.rows == 1 or self.dtype.bytes != self.result_dtype.bytes:
            return self.widest
        return widest_divisor(min(x[2], y[2]) // self.dtype.bytes, x[0] - y[0])

    @property
    def segmented(self) -> bool:
        """Whether segments are scanned apart from each other."""
        return self.flags or self.offsets

    @property
    def result_dtype(self) -> DType:
        """The element type of y."""
        return DType.INT64 if self.wide else self.dtype

    @property
    def number(self) -> DType:
        """The type that results are computed in; integers to be summed or multiplied have no sign, and wrap."""
        if self.dtype.is_float:
            return DType.FLOAT64 if self.dtype is DType.FLOAT64 else DType.FLOAT32
        if self.op in (Operation.MAX, Operation.MIN):
            return self.dtype
        return DType.UINT64 if self.result_dtype is DType.INT64 else DType.UINT32

    @property
    def work(self) -> Work:
        """All is read or written once; a floating-point sum or product has an operation for each element."""
        elements = self.rows * self.columns
        if not elements:
            return Work(0)
        heads = elements if self.flags else DType.INT64.bytes * (self.segments + 1) if self.offsets else 0
        unit = Unit.FP64 if self.dtype is DType.FLOAT64 else Unit.FP32
        counted = self.dtype.is_float and self.op in (Operation.SUM, Operation.PRODUCT)
        moved = elements * (self.dtype.bytes + self.result_dtype.bytes) + self.init * self.result_dtype.bytes
        return Work(moved + heads, {unit: elements if counted else 0})

    @property
    def _bounds(self) -> Indices:
        """What offsets may be."""
        return Indices(self.columns, order=Order.BOUNDS)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``y``, which may be ``x`` if it lies alike, and ``flags`` or ``offsets`` where there are segments."""
        x = self.tensor("x", self.dtype, Role.INPUT)
        y = self.tensor("y", self.result_dtype, Role.OUTPUT, self._judged)
        alike = not self.wide and self.layout_of("x") == self.layout_of("y")
        found = [x, replace(y, in_place="x") if alike else y]
        if self.flags:
            found.append(Tensor.flat("flags", DType.UINT8, self.columns, Role.INPUT, self.align_flags))
        if self.offsets:
            dtype, count = DType.INT64, self.segments + 1
            found.append(Tensor.flat("offsets", dtype, count, Role.INPUT, dtype.bytes, indices=self._bounds))
        if self.init:
            found.append(Tensor.flat("init", self.result_dtype, 1, Role.INPUT, self.result_dtype.bytes))
        return tuple(found)

    @property
    def rounded(self) -> bool:
        """Whether it is a sum of floats. No other scan of `inputs` is rounded on the way."""
        return self.op is Operation.SUM and self.dtype.is_float

    @property
    def _judged(self) -> Judgement:
        return Within.rounded(self.dtype) if self.rounded else EXACT

    @property
    def sum_error_weight(self) -> float:
        """The weight w of Σ|x| in ``y_scale`` = |y| + w·Σ|x|, relative to which a sum may be off by its roundoff."""
        roundings = _ROUNDINGS + self.columns // _ELEMENTS_OF_A_ROUNDING
        return roundings * self.number.roundoff / self.dtype.roundoff

    def inputs(self, seed: int) -> dict[str, Array]:
        """Numbers of which a lost, doubled or misplaced one shows in what follows it (inputs.py); random segments."""
        random = np.random.default_rng(seed)
        x = self.tensors[0]
        if self.op is Operation.SUM:
            return self._beside(random, terms(random, x.size, self.dtype), terms(random, 1, self.dtype))
        if self.op is Operation.PRODUCT:
            return self._beside(random, factors(random, x.size, self.dtype), factors(random, 8, self.dtype)[:1])
        numbers, middle = levels(random, x.size, self.dtype, self.reverse), middle_level(random, self.dtype)
        return self._beside(random, *((numbers, middle) if self.op is Operation.MAX else (-numbers, -middle)))

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Of floating-point sums, whole numbers other than 0; any 5 million of them have an exact sum in FP32."""
        if not self.rounded:
            return None
        random = np.random.default_rng(seed)
        first = whole_numbers(random, 1, self.dtype) * middle_level(random, self.dtype)
        return self._beside(random, whole_numbers(random, self.tensors[0].size, self.dtype), first)

    def _beside(self, random: np.random.Generator, x: Array, first: Array) -> dict[str, Array]:
        """The elements with what is read beside them."""
        found = {"x": x}
        if self.flags:
            found["flags"] = flags(random, self.columns)
        if self.offsets:
            found["offsets"] = self._bounds.drawn(random, self.segments + 1, np.int64)
        if self.init:
            found["init"] = first.astype(self.result_dtype.numpy)
        return found

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y, and of floating-point sums ``y_scale``."""
        number: Any = self.number.numpy if self.number is not DType.FLOAT64 else np.longdouble
        values = self.views(inputs)["x"].astype(np.float64 if self.rounded and self.number is DType.FLOAT32 else number)
        heads = self._begins(inputs)
        init = inputs["init"].astype(values.dtype) if self.init else None

        def scan(values: Array, init: Array | None) -> Array:
            return scanned(values, self.op.combine, self.identity, heads, self.exclusive, self.reverse, init)

        found = scan(values, init)
        if not self.rounded:
            return self.buffers({"y": found.astype(self.result_dtype.numpy)})
        found, magnitude = found.astype(np.float64), scan(np.abs(values), None if init is None else np.abs(init))
        scale = np.abs(found) + self.sum_error_weight * magnitude.astype(np.float64)
        return self.buffers({"y": found, "y_scale": scale})

    @property
    def identity(self) -> float:
        """What an exclusive scan begins with."""
        return self.op.identity(self.dtype)

    def _begins(self, inputs: Mapping[str, Array]) -> npt.NDArray[np.bool_] | None:
        """Whether a segment begins at a column; None if there are no segments."""
        if self.flags:
            return np.not_equal(inputs["flags"], 0)
        if not self.offsets:
            return None
        heads = np.zeros(self.columns + 1, np.bool_)
        heads[inputs["offsets"]] = True
        return heads[:-1]
