"""Products with few rows or a single column, as a gemv."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....codegen.matmul.gemv.problem import MOST, MOST_VECTORS, GemvProblem, WeightOrder
from ....codegen.matmul.sgemm.problem import SgemmProblem
from ...restatement import Restatement


def as_gemv(problem: SgemmProblem) -> Restatement | None:
    """C = A·op(B) as op(B)ᵀ times the rows of A, or as op(A) times the only column of B; None if it is neither.

    A gemv takes vectors without gaps between their elements.
    """
    if max(problem.m, problem.n, problem.k) > MOST:
        return None
    row_vectors = not problem.transpose_a or (problem.m == 1 and problem.lda == 1)
    if problem.m <= MOST_VECTORS and row_vectors:
        order = WeightOrder.NK if problem.transpose_b else WeightOrder.KN
        return _restated(problem, {"a": "x", "b": "w", "c": "y"}, problem.m, order)
    column_vector = problem.n == 1 and problem.ldc == 1 and (problem.transpose_b or problem.ldb == 1)
    if column_vector:
        order = WeightOrder.KN if problem.transpose_a else WeightOrder.NK
        return _restated(problem, {"a": "w", "b": "x", "c": "y"}, 1, order)
    return None


def _restated(problem: SgemmProblem, pointers: Mapping[str, str], vectors: int, order: WeightOrder) -> Restatement:
    layouts: dict[str, Any] = {}
    for own, other in pointers.items():
        leading, stride, align = problem.layout_of(own)
        alone = other != "w" and vectors == 1  # the next vector would be the next matrix
        layouts |= {f"ld{other}": 0 if alone else leading, f"stride_{other}": stride, f"align_{other}": align}
    restated = GemvProblem(
        n=problem.n if pointers["a"] == "x" else problem.m,
        k=problem.k,
        m=vectors,
        order=order,
        batch=problem.batch,
        beta_nonzero=problem.beta_nonzero,
        **layouts,
    )
    return Restatement("gemv", restated, pointers)
