"""How users call topk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.selection.topk.order import Order
from autotune.codegen.selection.topk.problem import DTYPES, INDEX_DTYPES, MOST_RESULTS, TopkProblem
from autotune.search_spaces.contract.array_checks import check_array, check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, rows


def topk(
    input: Any,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
    *,
    lengths: Any = None,
    index_dtype: DType = DType.INT64,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The k largest or smallest elements along the last axis, and their indices.

    There is one right answer: NaN is above all numbers, -0 equals 0, and of equal elements the one of the lower index
    comes first. So results do not depend on the device, and not on what else is computed.

    Args:
        input: float32, float16 or bfloat16, of any number of axes. Elements along the last axis are contiguous, and
            rows are evenly spaced.
        k: 0 … 2048, at most the elements of a row.
        dim: the last axis.
        largest: whether the largest elements are asked for.
        sorted: whether the largest (or smallest) element comes first; if not, results are in the order of
            their indices.
        lengths: int32, one for each row: how many of its elements count, from the first one on. Results behind so many
            have the index -1 and the value -infinity (or infinity, of the smallest).
        index_dtype: of the indices, int64 or int32.
        out: the values and the indices as a tuple of arrays whose rows are contiguous. By default new arrays of the
            library of `input`.

    Returns:
        The values, of the dtype of `input`, and the indices, each with k elements along the last axis.
    """


def _types(
    input: Layout, lengths: Layout | None, k: int, dim: int, index_dtype: DType, **_: bool
) -> Mapping[str, ArrayType]:
    check_rows("topk", "input", input, DTYPES, dim)
    if not 0 <= k <= min(MOST_RESULTS, input.shape[-1]):
        raise ValueError(f"k={k}: expected 0 … {min(MOST_RESULTS, input.shape[-1])} for rows of {input.shape[-1]}")
    if index_dtype not in INDEX_DTYPES:
        raise TypeError(f"index_dtype={index_dtype}: expected one of {', '.join(INDEX_DTYPES)}")
    check_array("lengths", lengths, DType.INT32, input.shape[:-1])
    shape = (*input.shape[:-1], k)
    return {"values": ArrayType(shape, input.dtype), "indices": ArrayType(shape, index_dtype)}


def _bind(
    input: Layout,
    lengths: Layout | None,
    values: Layout,
    indices: Layout,
    k: int,
    largest: bool,
    sorted: bool,
    index_dtype: DType,
    **_: int,
) -> Binding:
    x, v, i = (rows(name, layout) for name, layout in (("input", input), ("values", values), ("indices", indices)))
    problem = TopkProblem(
        rows=x.rows,
        columns=x.columns,
        k=k,
        dtype=DType(input.dtype),
        largest=largest,
        order=Order.SORTED if sorted else Order.INDEX,
        index_dtype=DType(index_dtype),
        lengths=lengths is not None,
        **x.fields("x"),
        **v.fields("v"),
        **i.fields("i"),
    )
    return Binding(problem, {"input": "x"})


CALL = Call(
    declaration=topk,
    inputs=("input", "lengths"),
    outputs=("values", "indices"),
    types=_types,
    bind=_bind,
    optional=("lengths",),
)
