"""What to sort in segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, size
from autotune.codegen.model.indices import Indices, Order, Spread
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.stable_order import stable_order
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.sorting.inputs import DTYPES, Entropy, compared, numbered, random_keys
from autotune.codegen.sorting.values import Values


@dataclass(frozen=True)
class SegmentedSortProblem(Problem):
    """The keys of each segment in ascending or descending order, those that are equal in the order in which they were.

    Segments follow each other, and have any length. -0 and 0 are equal, and so are all NaN, which are larger than all
    numbers. So there is one right order.

    Attributes:
        columns: keys of all segments.
        segments: of which each has an offset where it begins, and the last one where it ends.
        dtype: of the keys.
        values: what goes along with each key: nothing, or an array's element of as many bytes.
        descending: whether the largest key of a segment is its first one.
        offset_dtype: of the offsets, int32 or int64.
        spread: how long segments are.
        entropy: of each bit of the keys.
    """

    columns: int = size(1 << 24, most=None)
    segments: int = size(4096, least=1, most=None)
    dtype: DType = kind(DType.UINT32, allowed=DTYPES)
    values: Values = kind(Values.NONE, allowed=[one for one in Values if not one.is_index])
    descending: bool = kind(False, codes=("", "descending"))
    offset_dtype: DType = kind(DType.INT64, allowed=(DType.INT32, DType.INT64), implied=DType.INT64)
    spread: Spread = data(Spread.RANDOM)
    entropy: Entropy = data(Entropy.FULL)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.offset_dtype is DType.INT32 and self.columns > INT_MAX:
            raise ValueError(f"offset_dtype=int32, columns={self.columns}: expected int64 for so many")

    @property
    def _bounds(self) -> Indices:
        """What offsets may be."""
        return Indices(self.columns, order=Order.BOUNDS)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``keys``, ``offsets`` and ``keys_out``, and where there are such, ``values`` and ``values_out``."""
        dtype = self.offset_dtype
        bounds = Tensor.flat("offsets", dtype, self.segments + 1, Role.INPUT, dtype.bytes, indices=self._bounds)
        keys = (self._of_keys("keys", Role.INPUT), bounds, self._of_keys("keys_out", Role.OUTPUT))
        if not self.values.is_array:
            return keys
        return (*keys, self._of_values("values", Role.INPUT), self._of_values("values_out", Role.OUTPUT))

    def _of_keys(self, name: str, role: Role) -> Tensor:
        return Tensor.flat(name, self.dtype, self.columns, role, self.dtype.bytes)

    def _of_values(self, name: str, role: Role) -> Tensor:
        shape = (self.columns, *([self.values.words] if self.values.words > 1 else []))
        return Tensor(name, self.values.dtype, shape, row_major(shape), role, self.values.bytes)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Keys of which some are equal and some are special; values by which equal keys can be told apart."""
        random = np.random.default_rng(seed)
        found = {"keys": random_keys(random, self.columns, self.dtype, self.entropy)}
        found["offsets"] = self._bounds.drawn(random, self.segments + 1, self.offset_dtype.numpy, self.spread)
        if self.values.is_array:
            found["values"] = numbered(random, self.columns * self.values.words, self.values.dtype)
        return found

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """By a stable sort by the keys as unsigned numbers in their order, and then one by segments."""
        numbers = compared(inputs["keys"], self.dtype, self.descending)
        segments = np.searchsorted(inputs["offsets"][1:], np.arange(self.columns), side="right")
        order = stable_order(numbers)
        order = order[stable_order(segments.astype(np.uint32)[order])]
        found = {"keys_out": inputs["keys"][order]}
        if self.values.is_array:
            found["values_out"] = inputs["values"].reshape(self.columns, self.values.words)[order].reshape(-1)
        return found
