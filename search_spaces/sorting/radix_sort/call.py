"""How users call radix_sort."""

from __future__ import annotations

from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.sorting.sorted_arrays import sort_call


def radix_sort(
    keys: Any,
    values: Any = None,
    begin_bit: int = 0,
    end_bit: int | None = None,
    descending: bool = False,
    *,
    index_dtype: DType = DType.INT64,
    keys_out: Any = None,
    values_out: Any = None,
    stream: Any = None,
) -> Any:
    """The keys along the last axis in order, and the values that go along with them.

    Equal keys keep their order, in descending order, too. -0 and 0 are equal, and so are all NaN, which are larger than
    all numbers.

    Args:
        keys: of any integer type, float16, bfloat16, float32 or float64, contiguous, of one axis or more.
        values: of the shape of `keys`, contiguous, of elements of 1, 2, 4, 8 or 16 bytes. They need `values_out`.
        begin_bit: the lowest bit that integers are compared by; 0 for floats, which are compared as a whole. Passes
            over the keys are as few as these bits ask for: ids below 256 of any type take one, by `end_bit` 8.
        end_bit: the bit behind the highest one of these; None for all of them. With the sign bit among them, negative
            keys come first; without it, a key counts as the number of the bits that are left.
        descending: whether the largest key comes first.
        index_dtype: that of indices in `values_out`, int64 or int32.
        keys_out: the keys in order, of the shape and the dtype of `keys`. By default a new array of the library of
            `keys`.
        values_out: is written, if it is given: of the shape of `keys`, the values in the order of their keys, of the
            dtype of `values`; without `values`, the index that each key had along the axis.

    Returns:
        The keys in order.
    """


CALL = sort_call(radix_sort, RadixSortProblem)
