"""What calls of sorts have in common: what they ask of values and of the arrays that are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.inputs import DTYPES
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values
from autotune.search_spaces.contract.array_checks import check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def sort_call(declaration: Callable[..., Any], problem_type: type[RadixSortProblem]) -> Call:
    """The call of a sort, whose further options are fields of its problem; None stands for a field's default."""

    def types(keys: Layout, values: Layout | None, index_dtype: DType, **_: Any) -> Mapping[str, ArrayType]:
        return sorted_types(declaration.__name__, keys, values, index_dtype)

    def bind(keys: Layout, values: Layout | None, values_out: Layout | None, **given: Any) -> Binding:
        fields = {
            name: one for name, one in given.items() if name not in ("keys_out", "index_dtype") and one is not None
        }
        problem = problem_type(
            columns=keys.shape[-1],
            rows=prod(keys.shape[:-1]),
            dtype=DType(keys.dtype),
            values=carried(values, values_out),
            **fields,
        )
        return Binding(problem)

    return Call(
        declaration,
        inputs=("keys", "values"),
        outputs=("keys_out", "values_out"),
        types=types,
        bind=bind,
        optional=("values", "values_out"),
    )


def sorted_types(
    operator: str, keys: Layout, values: Layout | None, index_dtype: DType = DType.INT64
) -> Mapping[str, ArrayType]:
    """The types of ``keys_out`` and ``values_out``: of values of an array, or of indices."""
    check_rows(operator, "keys", keys, DTYPES)
    if index_dtype not in (DType.INT32, DType.INT64):
        raise TypeError(f"index_dtype={index_dtype}: expected int32 or int64")
    if values is not None and values.shape != keys.shape:
        raise ValueError(f"values has shape {values.shape}: expected that of keys, {keys.shape}")
    second = values.dtype if values is not None else index_dtype
    return {"keys_out": ArrayType(keys.shape, keys.dtype), "values_out": ArrayType(keys.shape, second)}


def carried(values: Layout | None, out: Layout | None, name: str = "values") -> Values:
    """The values that go along with keys, which are indices where only the array that gets them is given."""
    if out is None:
        if values is not None:
            raise ValueError(f"{name} is given without values_out: expected an array of its shape and dtype")
        return Values.NONE
    if values is not None:
        return Values(f"bytes{values.itemsize}")
    return Values.INDEX32 if out.dtype == DType.INT32 else Values.INDEX64


def carried_array(values: Layout | None, out: Layout | None, name: str = "values") -> Values:
    """The values that go along with keys, of an array alone."""
    if values is None and out is not None:
        raise ValueError(f"values_out is given without {name}: expected values that go along with the keys")
    return carried(values, out, name)
