"""How the vectors that kernels load lie in rows."""

from __future__ import annotations

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.selection.problem import RowsOfX


def skewed(problem: RowsOfX, vector_width: int) -> bool:
    """Whether rows of x may begin between vectors."""
    (rows, _), (leading, _, _) = problem.stored["x"], problem.layout_of("x")
    return rows > 1 and leading % vector_width != 0


def vectors_of_row(problem: RowsOfX, vector_width: int) -> int:
    """Vectors that the elements of a row of x lie in, at most."""
    skew = vector_width - 1 if skewed(problem, vector_width) else 0
    return ceil_div(problem.stored["x"][1] + skew, vector_width)
