"""Dᵀ = op(B)ᵀ·op(A)ᵀ, which kernels by wgmma compute in place of D: of few rows, or of B across k."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.integers import ceil_div

from .schedule import WgmmaSchedule

_BIAS = {Bias.NONE: Bias.NONE, Bias.ROW: Bias.COLUMN, Bias.COLUMN: Bias.ROW}


def swapped(problem: GemmProblem) -> GemmProblem:
    """The problem whose A is op(B)ᵀ and whose B is op(A)ᵀ, for a single matrix.

    Its C, D and Z are stored by columns, which are `GemmProblem.ldd` of the given problem apart; its own `ldd` is an
    odd multiple of that, as a row by rows needs, and as aligned. A search asks for that of one problem thousands of
    times; traced sizes are in no cache.
    """
    return _swapped(problem) if type(problem.m) is int else _swapped.__wrapped__(problem)


@lru_cache(maxsize=64)
def _swapped(problem: GemmProblem) -> GemmProblem:
    return replace(
        problem,
        m=problem.n,
        n=problem.m,
        transpose_a=not problem.transpose_b,
        transpose_b=not problem.transpose_a,
        dtype=problem.dtype_b,
        out_dtype=OutDType(problem.result.value),
        bias=_BIAS[problem.bias],
        bucket_rows=False,
        ldd=problem.ldd if problem.ldd >= problem.m else problem.ldd * (ceil_div(problem.m, problem.ldd) // 2 * 2 + 1),
        lda=problem.ldb,
        align_a=problem.align_b,
        ldb=problem.lda,
        align_b=problem.align_a,
    )


def tiled_problem(problem: GemmProblem, schedule: WgmmaSchedule) -> GemmProblem:
    """The problem as the schedule's tiles and consumers have it."""
    return swapped(problem) if schedule.swap else problem
