"""Reference kernels of rows that are shorter than a warp: a row of nothing but NaN has no maximum but NaN."""

import pytest
from contract.checker import check_reference_kernel

from autotune import emulator
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Problem
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.search_spaces.contract.registry import operator


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("softmax", SoftmaxProblem(65, 1, DType.FLOAT16, log=True, lse=True)),
        ("cross_entropy", CrossEntropyProblem(65, 1, lse=True)),
    ],
)
def test_a_row_of_one_nan(name: str, problem: Problem) -> None:
    check_reference_kernel(operator(name), problem, emulator.run)
