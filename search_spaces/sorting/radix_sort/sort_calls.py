"""How users call sort and argsort."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.inputs import DTYPES
from autotune.codegen.sorting.radix_sort.problem import ArgsortProblem, SortProblem
from autotune.codegen.sorting.values import Values
from autotune.search_spaces.contract.array_checks import check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout

_INDEX_DTYPES = {DType.INT64: Values.INDEX64, DType.INT32: Values.INDEX32}


def sort(
    input: Any,
    dim: int = -1,
    descending: bool = False,
    stable: bool = True,
    *,
    index_dtype: DType = DType.INT64,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The elements along the last axis in order, and their indices, by ``radix_sort``.

    Equal elements keep their order, in descending order, too. -0 and 0 are equal, and so are all NaN, which are larger
    than all numbers. So there is one right answer.

    Args:
        input: of any integer type, float16, bfloat16, float32 or float64, contiguous, of one axis or more.
        dim: the last axis.
        descending: whether the largest element comes first.
        stable: either; the sort is stable.
        index_dtype: of the indices, int64 or int32.
        out: the elements and the indices as a tuple of contiguous arrays. By default new arrays of the library of
            `input`.

    Returns:
        The elements in order, and the index that each had along the axis.
    """


def argsort(
    input: Any,
    dim: int = -1,
    descending: bool = False,
    stable: bool = True,
    *,
    index_dtype: DType = DType.INT64,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The indices along the last axis that put the elements in order: the second result of ``sort``.

    Args:
        input: see ``sort``.
        dim: the last axis.
        descending: whether the index of the largest element comes first.
        stable: either; the sort is stable.
        index_dtype: int64 or int32.
        out: the indices, contiguous. By default a new array of the library of `input`.

    Returns:
        The indices.
    """


def _check(operator: str, input: Layout, dim: int, index_dtype: DType) -> None:
    check_rows(operator, "input", input, DTYPES, dim)
    if index_dtype not in _INDEX_DTYPES:
        raise TypeError(f"index_dtype={index_dtype}: expected one of {', '.join(_INDEX_DTYPES)}")


def _sort_types(input: Layout, dim: int, index_dtype: DType, **_: bool) -> Mapping[str, ArrayType]:
    _check("sort", input, dim, index_dtype)
    return {"values": ArrayType(input.shape, input.dtype), "indices": ArrayType(input.shape, index_dtype)}


def _argsort_types(input: Layout, dim: int, index_dtype: DType, **_: bool) -> Mapping[str, ArrayType]:
    _check("argsort", input, dim, index_dtype)
    return {"out": ArrayType(input.shape, index_dtype)}


def _bind_sort(input: Layout, descending: bool, index_dtype: DType) -> Binding:
    pointers = {"input": "keys", "values": "keys_out", "indices": "values_out"}
    return Binding(_problem(SortProblem, input, descending, index_dtype), pointers)


def _bind_argsort(input: Layout, descending: bool, index_dtype: DType) -> Binding:
    problem = _problem(ArgsortProblem, input, descending, index_dtype)
    return Binding(problem, {"input": "keys", "out": "values_out"})


def _problem(kind: type[SortProblem], input: Layout, descending: bool, index_dtype: DType) -> SortProblem:
    return kind(
        columns=input.shape[-1],
        rows=prod(input.shape[:-1]),
        dtype=DType(input.dtype),
        values=_INDEX_DTYPES[index_dtype],
        descending=descending,
    )


SORT = Call(declaration=sort, inputs=("input",), outputs=("values", "indices"), types=_sort_types, bind=_bind_sort)
ARGSORT = Call(declaration=argsort, inputs=("input",), outputs=("out",), types=_argsort_types, bind=_bind_argsort)
