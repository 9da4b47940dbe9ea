"""gemm with few kernels for one weight, however many rows the other operand has."""

from functools import cache

import numpy as np
import pytest
from records import H200

from autotune import dispatcher
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.program import Program
from autotune.dispatcher.arrays.views import HOST
from autotune.dispatcher.choice.formulation import formulation_of
from autotune.dispatcher.choice.records import records
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator

GEMM = operator("gemm")
MOST_KERNELS = 16
WARM = (1, 2, 3, 4, 16, *(2**power for power in range(6, 13)))  # rows up to 4096


@cache
def _records(stated: Operator) -> list:
    return list(records(stated, H200))


def served(m: int, n: int, k: int) -> Program:
    """The program of the first choice."""
    problem = GemmProblem(m, n, k, transpose_b=True, bucket_rows=True)
    found = formulation_of(GEMM, problem, H200, _records)
    return found.operator.program(found.problem, next(found.choices).schedule, H200)


@pytest.mark.parametrize(("n", "k"), [(6144, 4096), (384, 96)])
def test_few_kernels_serve_any_number_of_tokens(n: int, k: int) -> None:
    warmed = {served(m, n, k).source for m in WARM}
    assert len(warmed) <= MOST_KERNELS
    between = (5, 17, 40, 65, 129, 200, 257, 300, 513, 700, 1025, 1500, 2049, 3000)
    assert {served(m, n, k).source for m in between} <= warmed


def test_four_rows_at_most_take_kernels_of_their_own() -> None:
    problems = [GemmProblem(m, 6144, 4096, transpose_b=True, bucket_rows=True) for m in (4, 5)]
    assert [GEMM.restated(problem) is None for problem in problems] == [False, True]


def test_rows_of_a_bucket_are_computed_by_one_kernel() -> None:
    w = np.random.default_rng(0).uniform(-1, 1, (24, 40)).astype(np.float16).T
    schedules = set()
    for m in (5, 16):
        x = np.random.default_rng(m).uniform(-1, 1, (m, 40)).astype(np.float16)
        call = dispatcher.plan("gemm", x, w, bucket_rows=True)
        schedules.add(call.choice.schedule)
        np.testing.assert_allclose(call(), x.astype(np.float32) @ w.astype(np.float32), rtol=2e-3, atol=2e-3)
    assert len(schedules) == 1
    (warmed,) = dispatcher.warm([GemmProblem(7, 24, 40, transpose_b=True, bucket_rows=True)], HOST)
    assert warmed.schedule == warmed.schedule.shape_generic


def test_a_schedule_with_too_many_blocks_for_the_rows_there_are_does_not_serve() -> None:
    for m in (5, 17, 33, 65, 129):
        problem = GemmProblem(m, 16, 16, transpose_b=True, bucket_rows=True)
        found = formulation_of(GEMM, problem, H200, _records)
        assert all(not found.operator.violations(found.problem, one.schedule, H200) for one in found.choices)


def test_other_operands_are_refused() -> None:
    with pytest.raises(ValueError, match="bucket_rows=True: expected one matrix A that is stored row by row"):
        GemmProblem(5, 7, 8, transpose_a=True, bucket_rows=True)
    x = np.ones((8, 5), np.float16)
    with pytest.raises(ValueError, match=r"expected contiguous rows for bucket_rows=True"):
        dispatcher.gemm(x.T, x, out=np.empty((5, 5), np.float16, order="F"), bucket_rows=True)
