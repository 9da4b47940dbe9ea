"""What to select."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, layout, size
from autotune.codegen.model.indices import Indices
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.stable_order import stable_order
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.selection.keys import keys

from .order import Order

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
INDEX_DTYPES = (DType.INT64, DType.INT32)
MOST_COLUMNS = 2**30  # so that a column beyond the last round is a 32-bit number, too
MOST_RESULTS = 2048  # of a row
_LEVELS = 64
_SPECIAL_SHARE = 4096
_SPECIAL = (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0)


class Pattern(StrEnum):
    """What elements are like."""

    RANDOM = "random"  # normal numbers, a few of them NaN, infinite or a zero of either sign
    TIE_HEAVY = "tie_heavy"  # of 64 numbers
    PIVOT_TIE = "pivot_tie"  # ones, with few twos: the last result is one of many equal elements


@dataclass(frozen=True)
class TopkProblem(MatrixProblem):
    """The k largest or smallest elements of each row, and their columns.

    Elements have a total order, so there is one right answer: by value, where NaN is above all numbers and -0 equals 0,
    then by column, the lower one first. A row of fewer than k elements has results of index -1 behind them, whose value
    is -infinity, or infinity of the smallest.

    Attributes:
        rows, columns: of x.
        k: results of a row, at most 2048.
        dtype: of elements and values.
        largest: whether the largest elements are asked for.
        order: of a row's results.
        index_dtype: of the indices.
        lengths: whether an array says of each row how many of its elements count: from 0, for less, to all columns.
        pattern: what elements are like.
        ldx, ldv, ldi: elements from one row of x, of the values and of the indices to the next; 0 stands for rows
            without gaps.
        align_x, align_v, align_i: bytes that the addresses are a multiple of, at most 16.
    """

    rows: int = size(512, most=None)
    columns: int = size(128256, most=MOST_COLUMNS)
    k: int = size(50, most=MOST_RESULTS, at_most="columns", short="k")
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    largest: bool = kind(True, codes=("smallest", ""))
    order: Order = kind(Order.SORTED)
    index_dtype: DType = kind(DType.INT64, allowed=INDEX_DTYPES, implied=DType.INT64)
    lengths: bool = kind(False, codes=("", "lengths"))
    pattern: Pattern = data(Pattern.RANDOM)
    ldx: int = layout()
    align_x: int = layout(16)
    ldv: int = layout()
    align_v: int = layout(16)
    ldi: int = layout()
    align_i: int = layout(16)

    written = frozenset("vi")

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``, of the values and of the indices."""
        return {"x": (self.rows, self.columns), **dict.fromkeys("vi", (self.rows, self.k))}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`; of the indices, those of `index_dtype`."""
        return self.index_dtype.bytes if operand == "i" else self.dtype.bytes

    @property
    def widest(self) -> int:
        """Elements of the widest load; a row may begin between such vectors."""
        return self.align_x // self.dtype.bytes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``lengths`` if there are any, then ``values`` and ``indices`` of shape (rows, k)."""
        x = self.tensor("x", self.dtype, Role.INPUT)
        allowed = Indices(self.columns, tolerant=True)
        lengths = Tensor.flat("lengths", DType.INT32, self.rows, Role.INPUT, DType.INT32.bytes, indices=allowed)
        values = replace(self.tensor("v", self.dtype, Role.OUTPUT), name="values")
        indices = replace(self.tensor("i", self.index_dtype, Role.OUTPUT), name="indices")
        return (x, *([lengths] if self.lengths else []), values, indices)

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `Pattern`; lengths are of any size, some of them out of bounds."""
        random = np.random.default_rng(seed)
        count = self.tensors[0].size

        def draw(count: int) -> Array:
            if self.pattern is Pattern.TIE_HEAVY:
                return (random.integers(0, _LEVELS, count) / _LEVELS).astype(self.dtype.numpy)
            if self.pattern is Pattern.PIVOT_TIE:
                return np.where(random.integers(0, 1 << 10, count), 1, 2).astype(self.dtype.numpy)
            drawn = random.standard_normal(count, np.float32)
            places = random.integers(0, max(1, count), len(_SPECIAL) + count // _SPECIAL_SHARE)
            drawn[places[:count]] = np.resize(np.array(_SPECIAL, np.float32), len(places))[:count]
            return drawn.astype(self.dtype.numpy)

        found = {"x": repeated(draw, count)}
        if self.lengths:
            found["lengths"] = random.integers(0, self.columns + 1, self.rows, np.int32)
            found["lengths"][::7], found["lengths"][3::7] = self.columns + 1, -1
        return found

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """By a stable sort of each row."""
        x = self.views(inputs)["x"]
        lengths = np.clip(inputs["lengths"], 0, self.columns) if self.lengths else np.full(self.rows, self.columns)
        worst = -np.inf if self.largest else np.inf
        values = np.full((self.rows, self.k), worst, self.dtype.numpy)
        indices = np.full((self.rows, self.k), -1, self.index_dtype.numpy)
        for row, length in enumerate(lengths):
            elements = np.ascontiguousarray(x[row, :length])
            first = stable_order(~keys(elements, self.largest))[: self.k]
            chosen = np.sort(first) if self.order is Order.INDEX else first
            values[row, : len(chosen)], indices[row, : len(chosen)] = elements[chosen], chosen
        return self.buffers({"values": values, "indices": indices})
