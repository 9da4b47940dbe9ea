"""Operands that a launch of its own transposes in the workspace, ahead of the product."""

from dataclasses import replace

import numpy as np
import pytest
from sgemm_cases import SPEC

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.codegen.model.schedule import Specialize
from autotune.emulator import run, verify
from autotune.search_spaces.matmul.sgemm import OPERATOR

B = SgemmSchedule(
    block_m=16, block_n=32, block_k=16, warp_m=16, warp_n=16, thread_m=4, thread_n=4, pad_b=0, stages=3, copy_steps=4,
    copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.TRANSPOSE_FIRST, vector_a=1, vector_c=1,
)  # fmt: skip
BOTH = replace(B, copy_a=CopyMode.TRANSPOSE_FIRST, vector_b=1)
SMALL = SgemmProblem(17, 35, 53, transpose_b=True)


@pytest.mark.parametrize(
    ("problem", "schedule", "entries"),
    [
        (SgemmProblem(16, 64, 80, transpose_b=True), replace(B, grid_blocks=3), ("transpose_b", "sgemm")),
        (replace(SMALL, batch=2, stride_a=17 * 53, stride_b=36 * 53, beta_nonzero=True), BOTH,
         ("transpose_a", "transpose_b", "sgemm")),
        (replace(SMALL, batch=3, stride_a=17 * 53), replace(B, specialize=Specialize.SHAPE, vector_b=1),
         ("transpose_b", "sgemm")),
    ],
)  # fmt: skip
def test_transposed_operands(problem, schedule, entries):
    program = OPERATOR.program(problem, schedule, SPEC)
    assert program.entries == entries
    verify(problem, program)


def test_alpha_of_zero_reads_neither_a_nor_b():
    program, tensors = OPERATOR.program(SMALL, BOTH, SPEC), list(SMALL.tensors)
    arrays = SMALL.inputs(0) | {"c": np.zeros(tensors[2].size, np.float32)}
    arrays["a"][:] = arrays["b"][:] = np.nan
    run(program, tensors, arrays, {"alpha": 0.0, "beta": 0.0}, seed=0)
    assert not arrays["c"].any()


def test_the_workspace_has_room_for_both_and_for_the_product():
    problem = SgemmProblem(30, 64, 80, transpose_b=True)
    split = replace(BOTH, grid_blocks=3)
    own = replace(split, copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY).workspace_bytes(problem)
    bytes_a, bytes_b = 4 * 80 * 32, 4 * 80 * 64  # rows of A's 30 columns are aligned for vectors
    program = OPERATOR.program(problem, split, SPEC)
    assert program.workspace_bytes == bytes_a + bytes_b + own > bytes_a + bytes_b
    plain = OPERATOR.program(problem, OPERATOR.default(problem, SPEC), SPEC)
    assert [one.name for one in program.arguments] == [one.name for one in plain.arguments]  # as exports need it


def test_an_operand_across_k_is_not_transposed():
    found = OPERATOR.violations(replace(SMALL, transpose_b=False), replace(B, vector_b=1), SPEC)
    assert found == ["B lies across k, so it cannot be transposed first"]
    found = OPERATOR.violations(SMALL, B, SPEC)
    assert found == ["vector_b 4 over the 1 elements that B is aligned for"]
    found = OPERATOR.violations(replace(SMALL, k=0), BOTH, SPEC)
    assert found == [f"{name} has no elements to transpose first, as k is 0" for name in "AB"]
    found = OPERATOR.violations(SgemmProblem(64, 2**15, 2**14, transpose_b=True), B, SPEC)
    assert found == [f"transposed operands need {2**31} B of workspace, over {2**30} B"]


def test_it_is_searched_where_the_other_side_is_long():
    def searched(m):
        space = OPERATOR.space(SgemmProblem(m, 4096, 4096, transpose_b=True), SPEC)
        (values,) = (parameter.values for parameter in space.parameters if parameter.name == "load_b")
        return any(str(CopyMode.TRANSPOSE_FIRST) in str(value) for value in values)

    assert (searched(4096), searched(256)) == (True, False)


def test_its_bytes_count_for_the_time_model():
    problem = SgemmProblem(4096, 4096, 4096, transpose_b=True)
    first, product = OPERATOR.workload(problem, SgemmSchedule(copy_b=CopyMode.TRANSPOSE_FIRST), SPEC)
    assert first.memory_bytes >= 2 * 4 * 4096**2
    plain = OPERATOR.workload(replace(problem, transpose_b=False), SgemmSchedule(copy_b=CopyMode.ASYNC_COPY), SPEC)
    assert (product,) == plain


def test_it_is_tried_first_where_both_operands_lie_along_k_and_much_faces_one():
    def tried(problem):
        seeds = OPERATOR.seeds(problem, SPEC)
        return {x for x in "ab" for seed in seeds if getattr(seed, f"copy_{x}") is CopyMode.TRANSPOSE_FIRST}

    assert tried(SgemmProblem(8192, 4096, 4096, transpose_b=True)) == {"b"}
    assert tried(SgemmProblem(128, 4096, 4096, transpose_b=True)) == {"a"}
    assert not tried(SgemmProblem(64, 4096, 4096, transpose_b=True))
    assert not tried(SgemmProblem(1024, 1024, 4096, transpose_b=True))
    assert not tried(SgemmProblem(4096, 4096, 4096, transpose_a=True, transpose_b=True))
