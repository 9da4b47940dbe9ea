"""Products of few rows or columns as a gemv."""

from __future__ import annotations

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem
from autotune.search_spaces.matmul.as_gemv import by_columns, by_rows


def as_gemv(problem: SgemmProblem) -> EquivalentProblem | None:
    """C as the vectors of a gemv, by rows if they are few, or by columns; None if both are many."""
    fields = {"batch": problem.batch, "beta_nonzero": problem.beta_nonzero}
    return by_rows(problem, **fields) or by_columns(problem, **fields)
