"""How users call attention_merge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention_merge.problem import DTYPES, AttentionMergeProblem
from autotune.codegen.attention.problem import MOST_DIM
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.attention.heads import check_order, extents
from autotune.search_spaces.contract.array_checks import check_alike, check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields


def attention_merge(
    first: Any,
    first_lse: Any,
    second: Any,
    second_lse: Any,
    *,
    order: str = "bshd",
    lse: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """Puts two attentions of the same queries together, which went over different keys.

    The result is that over the keys of both: each row is the mean of both, weighted by the exponentials of their
    logarithms. A row that has seen no key, whose logarithm is -infinity, has no part in it, whatever it holds.

    Args:
        first: float32, bfloat16 or float16, of shape (batch, queries, heads, head_dim), or in another `order`. Elements
            of a head are contiguous, other axes may have any strides.
        first_lse: the natural logarithms of its sums, as attentions write them: float32 of shape (batch, heads,
            queries).
        second: of the dtype and the shape of `first`.
        second_lse: likewise.
        order: of the axes of `first`, `second` and the result: ``bshd``, or ``bhsd`` with heads ahead of queries.
        lse: is written, if it is given: the logarithm of the sum of both, of the shape of `first_lse`.
        out: the result, of the shape of `first`. By default a new array of the library of `first`.

    Returns:
        The result.
    """


def _types(first: Layout, first_lse: Layout, second: Layout, second_lse: Layout, order: str) -> Mapping[str, ArrayType]:
    check_order(order)
    check_dtype("attention_merge", "first", first, DTYPES)
    check_alike("second", second, "first", first)
    of_rows = extents("first", first, order)
    if not 1 <= of_rows["d"] <= MOST_DIM:
        raise ValueError(f"first has shape {first.shape}: expected heads of 1 to {MOST_DIM} elements")
    logarithms = of_rows["b"], of_rows["h"], of_rows["s"]
    check_array("first_lse", first_lse, DType.FLOAT32, logarithms)
    check_array("second_lse", second_lse, DType.FLOAT32, logarithms)
    return {"out": ArrayType(first.shape, first.dtype), "lse": ArrayType(logarithms, DType.FLOAT32)}


def _bind(first: Layout, second: Layout, out: Layout, lse: Layout | None, order: str) -> Binding:
    of_rows, operands = extents("first", first, order), AttentionMergeProblem.operands
    where: dict[str, Any] = {}
    for name, operand, one in (("first", "first", first), ("second", "second", second), ("out", "o", out)):
        where |= stride_fields(name, one, operand, operands[operand], order)
    problem = AttentionMergeProblem(
        queries=of_rows["s"],
        heads=of_rows["h"],
        batch=of_rows["b"],
        head_dim=of_rows["d"],
        dtype=DType(first.dtype),
        lse=lse is not None,
        **where,
    )
    return Binding(problem, {"out": "o"})


CALL = Call(
    declaration=attention_merge,
    inputs=("first", "first_lse", "second", "second_lse"),
    outputs=("out", "lse"),
    types=_types,
    bind=_bind,
    optional=("lse",),
    reordered=("first", "first_lse", "second", "second_lse", "out", "lse"),
)
