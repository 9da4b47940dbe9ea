"""Products of few rows or columns as a gemv."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.matmul.gemv.problem import MOST, MOST_VECTORS, GemvProblem, WeightOrder
from autotune.codegen.matmul.problem import ProductProblem
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem


def by_rows(problem: ProductProblem, **fields: Any) -> EquivalentProblem | None:
    """op(A)·op(B) as op(B)ᵀ times the few rows of op(A), of gemv's further fields; None if rows are many."""
    if problem.m > MOST_VECTORS:
        return None
    (written,) = problem.written
    order = WeightOrder.NK if problem.transpose_b else WeightOrder.KN
    transposed = {"x": problem.transpose_a, "y": False}
    return _restated(problem, {"a": "x", "b": "w", written: "y"}, problem.m, order, transposed, fields)


def by_columns(problem: ProductProblem, **fields: Any) -> EquivalentProblem | None:
    """op(A)·op(B) as op(A) times the few columns of op(B), of gemv's further fields; None if they are many."""
    if problem.n > MOST_VECTORS:
        return None
    (written,) = problem.written
    order = WeightOrder.KN if problem.transpose_a else WeightOrder.NK
    transposed = {"x": not problem.transpose_b, "y": True}
    return _restated(problem, {"a": "w", "b": "x", written: "y"}, problem.n, order, transposed, fields)


def _restated(
    problem: ProductProblem,
    pointers: Mapping[str, str],
    vectors: int,
    order: WeightOrder,
    transposed: Mapping[str, bool],
    fields: Mapping[str, Any],
) -> EquivalentProblem | None:
    if max(problem.m, problem.n, problem.k) > MOST:
        return None
    layouts: dict[str, Any] = {}
    for own, other in pointers.items():
        leading, stride, align = problem.layout_of(own)
        if other in transposed:
            across = transposed[other] and (vectors != 1 or leading > 1)  # a column without gaps is a row
            alone = vectors == 1 and not across  # the next vector would be the next matrix
            layouts |= {f"transpose_{other}": across}
            leading = 0 if alone else leading
        layouts |= {f"ld{other}": leading, f"stride_{other}": stride, f"align_{other}": align}
    restated = GemvProblem(
        n=problem.n if pointers["a"] == "x" else problem.m,
        k=problem.k,
        m=vectors,
        order=order,
        **fields,
        **layouts,
    )
    return EquivalentProblem("gemv", restated, {**pointers, "bias": "bias"} if restated.bias else pointers)
