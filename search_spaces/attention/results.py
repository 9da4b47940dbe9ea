"""The caller's arrays as operands of attention and its results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.problem import MOST_DIM
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import ArrayType, Binding
from autotune.search_spaces.contract.layouts import Layout

from .fragment_tables import check_read, table_fields
from .heads import check_heads, head_fields, operand_fields


def result_types(
    q: Layout, k: Layout, v: Layout, sinks: Layout | None, order: str, most: int = MOST_DIM, **_: Any
) -> Mapping[str, ArrayType]:
    """The results of operands that go together; see `check_heads` for what is raised."""
    of_o = check_heads(q, k, v, sinks, order, most)
    return {
        "out": ArrayType(tuple(of_o[axis] for axis in order), q.dtype),
        "lse": ArrayType(tuple(of_o[axis] for axis in "bhs" if axis in order), DType.FLOAT32),
    }


def result_binding(
    problem_type: type[AttentionProblem],
    order: str,
    *,
    q: Layout,
    k: Layout,
    v: Layout,
    sinks: Layout | None,
    lse: Layout | None,
    out: Layout,
    numbers: Layout | None,
    integers: Layout | None,
    **fields: Any,
) -> Binding:
    """What a call of these arrays and further fields of the problem computes."""
    named = {"q": ("q", q), "k": ("k", k), "v": ("v", v), "o": ("out", out)}
    tables = {"numbers": numbers, "integers": integers}
    problem = problem_type(
        sinks=sinks is not None,
        lse=lse is not None,
        **fields,
        **head_fields(q, k, v, order),
        **operand_fields(problem_type.operands, named, order),
        **table_fields(tables),
    )
    check_read(problem, tables)
    return Binding(problem, {"out": "o"})
