"""How users call segmented_sort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.segmented_sort.problem import SegmentedSortProblem
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.sorting.sorted_arrays import carried_array, sorted_types


def segmented_sort(
    keys: Any,
    offsets: Any,
    values: Any = None,
    *,
    descending: bool = False,
    keys_out: Any = None,
    values_out: Any = None,
    stream: Any = None,
) -> Any:
    """The keys of each segment in order, and the values that go along with them.

    Equal keys keep their order, in descending order, too. -0 and 0 are equal, and so are all NaN, which are larger than
    all numbers. Segments have any length. No host reads the offsets, so that a captured graph sorts by new ones.

    Args:
        keys: of any integer type, float16, bfloat16, float32 or float64, contiguous, of one axis.
        offsets: int32 or int64, ascending from 0, one more than there are segments: where each begins, and the number
            of all keys. Their contents are not checked. The nearest place that there is stands for one that is out of
            bounds, nothing is written of keys in no segment, and where offsets fall, any key may be at any place.
        values: of the shape of `keys`, contiguous, of elements of 1, 2, 4, 8 or 16 bytes. They need `values_out`.
        descending: whether the largest key of a segment is its first one.
        keys_out: the keys in order. By default a new array of the library of `keys`.
        values_out: is written, if it is given: the values in the order of their keys.

    Returns:
        The keys in order.
    """


def _types(keys: Layout, offsets: Layout, values: Layout | None, descending: bool) -> Mapping[str, ArrayType]:
    if len(keys.shape) != 1:
        raise ValueError(f"keys has shape {keys.shape}: expected one axis")
    check_dtype("segmented_sort", "offsets", offsets, (DType.INT32, DType.INT64))
    if len(offsets.shape) != 1 or offsets.shape[0] < 2:
        raise ValueError(f"offsets has shape {offsets.shape}: expected two or more along one axis")
    return sorted_types("segmented_sort", keys, values)


def _bind(keys: Layout, offsets: Layout, values: Layout | None, values_out: Layout | None, descending: bool) -> Binding:
    return Binding(
        SegmentedSortProblem(
            columns=keys.shape[0],
            segments=offsets.shape[0] - 1,
            dtype=DType(keys.dtype),
            values=carried_array(values, values_out),
            descending=descending,
            offset_dtype=DType(offsets.dtype),
        )
    )


CALL = Call(
    declaration=segmented_sort,
    inputs=("keys", "offsets", "values"),
    outputs=("keys_out", "values_out"),
    types=_types,
    bind=_bind,
    optional=("values", "values_out"),
)
