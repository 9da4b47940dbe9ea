"""How users call merge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.inputs import DTYPES
from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.sorting.sorted_arrays import carried_array


def merge(
    a: Any,
    b: Any,
    a_values: Any = None,
    b_values: Any = None,
    *,
    descending: bool = False,
    keys_out: Any = None,
    values_out: Any = None,
    stream: Any = None,
) -> Any:
    """The keys of two sorted arrays in order, and the values that go along with them.

    Keys of `a` precede equal keys of `b`, and keep their order. -0 and 0 are equal, and so are all NaN, which are
    larger than all numbers. Whether the arrays are sorted is not checked: if they are not, the result is any keys of
    both.

    Args:
        a: of any integer type, float16, bfloat16, float32 or float64, contiguous, of one axis.
        b: likewise, of the dtype of `a`.
        a_values: of the shape of `a`, contiguous, of elements of 1, 2, 4, 8 or 16 bytes. They need `b_values` and
            `values_out`.
        b_values: of the shape of `b` and the dtype of `a_values`.
        descending: whether the arrays begin with their largest keys.
        keys_out: the keys in order. By default a new array of the library of `a`.
        values_out: is written, if it is given: the values in the order of their keys, of the dtype of `a_values`.

    Returns:
        The keys in order.
    """


def _types(
    a: Layout, b: Layout, a_values: Layout | None, b_values: Layout | None, descending: bool
) -> Mapping[str, ArrayType]:
    check_dtype("merge", "a", a, DTYPES)
    for name, array in (("a", a), ("b", b)):
        if len(array.shape) != 1:
            raise ValueError(f"{name} has shape {array.shape}: expected one axis")
    check_array("b", b, a.dtype, b.shape)
    if (a_values is None) != (b_values is None):
        raise ValueError("a_values or b_values is given alone: expected both or none")
    if a_values is not None:
        check_array("a_values", a_values, a_values.dtype, a.shape)
        check_array("b_values", b_values, a_values.dtype, b.shape)
    shape = (a.shape[0] + b.shape[0],)
    of_values = a_values.dtype if a_values is not None else a.dtype
    return {"keys_out": ArrayType(shape, a.dtype), "values_out": ArrayType(shape, of_values)}


def _bind(a: Layout, b: Layout, a_values: Layout | None, values_out: Layout | None, descending: bool) -> Binding:
    values = carried_array(a_values, values_out, "a_values")
    return Binding(MergeProblem(a.shape[0], b.shape[0], DType(a.dtype), values, descending))


CALL = Call(
    declaration=merge,
    inputs=("a", "b", "a_values", "b_values"),
    outputs=("keys_out", "values_out"),
    types=_types,
    bind=_bind,
    optional=("a_values", "b_values", "values_out"),
)
