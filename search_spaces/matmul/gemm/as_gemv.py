"""Products of few rows or columns as a gemv."""

from __future__ import annotations

from typing import Any

from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem
from autotune.search_spaces.matmul.as_gemv import by_columns, by_rows

_MOST_BUCKETED = 4  # rows, each number of which takes a kernel of its own


def as_gemv(problem: GemmProblem) -> EquivalentProblem | None:
    """D as the vectors of a gemv, by rows if they are few, or by columns; None if both are many.

    None also for what gemv has not: types of 8 bits, another type of D, gated pairs, a residual beside D, a second
    output, a bias that is the same for a whole vector. Where a product may be TF32, it may be FP32.
    """
    more = problem.gate is not Gate.NONE or problem.residual or problem.preactivation
    if problem.dtype.bits < 16 or problem.out_dtype is not OutDType.SAME or more:
        return None
    fields: dict[str, Any] = {name: getattr(problem, name) for name in ("batch", "dtype", "activation")}
    fields["bias"] = problem.bias is not Bias.NONE
    fits = problem.bias is not Bias.COLUMN and problem.m <= (_MOST_BUCKETED if problem.bucket_rows else problem.m)
    rows = by_rows(problem, **fields) if fits else None
    return rows or (by_columns(problem, **fields) if problem.bias is not Bias.ROW else None)
