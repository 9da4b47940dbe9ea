"""What sgemm's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sgemm_cases import CASES, LIMITS, Case, template

from autotune.codegen.sgemm.emit import emit
from autotune.codegen.sgemm.problem import SgemmProblem
from autotune.codegen.sgemm.schedule import SgemmSchedule, Transport
from autotune.emulator import EmulatorError, run, verify
from autotune.search_spaces.sgemm import OPERATOR
from autotune.search_spaces.space import Space
from autotune.verification import compare


def test_cases_cover_every_value() -> None:
    def space(case: Case) -> Space[SgemmSchedule]:
        return OPERATOR.space(template(case[0].transpose_a, case[0].transpose_b), LIMITS)

    drawn = [dict(space(case).draw_of(case[1])) for case in CASES]
    for parameter in (parameter for case in CASES[:4] for parameter in space(case).parameters):
        if parameter.name == "grid":  # the cases are too small for all but the first
            assert {"tiles", "other"} <= {draw["grid"] for draw in drawn}
            continue
        assert set(parameter.values) <= {draw[parameter.name] for draw in drawn}, parameter.name


def test_cases_cover_problems() -> None:
    problems = [problem for problem, _ in CASES]
    assert {problem.layout for problem in problems} == {"nn", "nt", "tn", "tt"}
    assert {problem.batch for problem in problems} == {1, 2, 3}
    assert any(problem.batch > 1 and not problem.stride_a for problem in problems)
    assert any(problem.stride_c < problem.ldc for problem in problems if problem.batch > 1)
    whole = [p.m % s.block_m == p.n % s.block_n == p.k % s.block_k == 0 and p.flops > 0 for p, s in CASES]
    assert 20 <= sum(whole) <= 160
    assert sum(problem.k == 0 for problem in problems) >= 2


@pytest.mark.parametrize("grid_blocks", [0, 3])
def test_alpha_of_zero_reads_neither_a_nor_b(grid_blocks: int) -> None:
    problem = SgemmProblem(65, 33, 70, align_a=4, align_b=4, align_c=4, read_c=True)
    schedule = replace(OPERATOR.default(problem, LIMITS), grid_blocks=grid_blocks)
    arrays = problem.inputs(0)
    expected = -0.5 * arrays["c"].astype(np.float64)
    arrays["a"][:] = arrays["b"][:] = np.nan
    run(OPERATOR.source(problem, schedule, LIMITS), problem.tensors, arrays, {"alpha": 0.0, "beta": -0.5}, seed=0)
    assert compare(arrays["c"], expected, 1e-6) == 0


def test_offsets_beyond_32_bits() -> None:
    """Rows so far apart that offsets inside of a tile need 64 bits; there is only one row of each."""
    problem = SgemmProblem(1, 70, 1, lda=2**30, ldb=2**30, ldc=2**30)
    source = OPERATOR.source(problem, OPERATOR.default(problem, LIMITS), LIMITS)
    assert "using Index = long long;" in source.text
    verify(problem, source)


PIPELINED = SgemmSchedule(stages=3, transport_b=Transport.ASYNC_COPY, block_m=64, block_n=64, warp_m=32, warp_n=64)
PLANTED = [
    ("async_wait<stages - 2>();\n    __syncthreads();", "async_wait<stages - 2>();"),
    ("async_wait<stages - 2>();", "async_wait<stages - 1>();"),
    ("if (more) finish(write);", "finish(read_);"),
    ("stage < stages - 1; ++stage", "stage < stages - 2; ++stage"),
    ("return across <= 0 ? 0 : along;", "return across < 0 ? 0 : along;"),
    ("word < valid ? __ldg", "word <= valid ? __ldg"),
    ("if (Problem::guard_m && row >= m_left) continue;", "if (Problem::guard_m && row > m_left) continue;"),
    ("if (column + word < n_left)", "if (column + word <= n_left)"),
    ("batch * problem.stride_c", "0 * problem.stride_c"),
    (": alpha * sum", ": sum"),
    ("fmaf(beta, words[word], ", "fmaf(0.0f, words[word], "),
]


@pytest.mark.parametrize(("right", "planted"), PLANTED)
def test_planted_bug_is_caught(right: str, planted: str) -> None:
    problem = SgemmProblem(67, 70, 130, batch=2, read_c=True, lda=132, ldb=72, ldc=72)
    source = OPERATOR.source(problem, PIPELINED, LIMITS)
    assert right in source.text
    with pytest.raises(EmulatorError):
        verify(problem, replace(source, text=source.text.replace(right, planted)))


@pytest.mark.parametrize(
    ("schedule", "right"),
    [
        (PIPELINED, "tile + stages - 1 < tiles"),
        (replace(PIPELINED, transport_a=Transport.ASYNC_COPY, copy_steps=4), "tile + stages < tiles"),
    ],
)
def test_planted_copy_beyond_the_last_tile_is_caught(schedule: SgemmSchedule, right: str) -> None:
    problem = SgemmProblem(64, 64, 64, transpose_a=True)
    source = OPERATOR.source(problem, schedule, LIMITS)
    verify(problem, source)
    assert right in source.text
    with pytest.raises(EmulatorError):
        verify(problem, replace(source, text=source.text.replace(right, right.replace("<", "<="))))


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("__threadfence();\n      last =", "last ="),
        ("*counter = 0;", "*counter = 1;"),
        ("== count - 1", "== 0"),
        ("(index == 0)", "0"),
        ("+ min(cluster, longer_clusters())", ""),
        ("atomicAdd(counter, 1)", "*counter"),
    ],
)
def test_planted_bug_of_shared_tiles_is_caught(right: str, planted: str) -> None:
    problem = SgemmProblem(64, 192, 112)
    source = OPERATOR.source(problem, replace(PIPELINED, grid_blocks=5), LIMITS)
    assert right in source.text
    with pytest.raises(EmulatorError):
        verify(problem, replace(source, text=source.text.replace(right, planted)))


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("if (lane_k() == 0) leave_part();", "if (lane_k() == 0 && cluster_rank() != 1) leave_part();"),
        ("shared_of_rank(theirs, part / Schedule::warps_k)", "shared_of_rank(theirs, 1)"),
        ("cluster_rank() * Schedule::warps_k + warp_k()", "warp_k()"),
        ("+ min(rank, longer)", ""),
        ("(rank < longer)", "0"),
    ],
)
def test_planted_bug_of_clusters_is_caught(right: str, planted: str) -> None:
    problem = SgemmProblem(64, 192, 112)
    schedule = replace(PIPELINED, warps_k=2, cluster_k=4, grid_blocks=20)
    source = OPERATOR.source(problem, schedule, LIMITS)
    verify(problem, source)
    assert right in source.text
    with pytest.raises(EmulatorError):
        verify(problem, replace(source, text=source.text.replace(right, planted)))


def test_equal_texts_serve_many_problems() -> None:
    schedule = SgemmSchedule()
    small, large = SgemmProblem(256, 128, 64), SgemmProblem(512, 384, 4096)
    assert OPERATOR.emit(small, schedule).text == OPERATOR.emit(large, schedule).text
    shaped = SgemmSchedule.parse(["specialize=shape"])
    assert OPERATOR.emit(small, shaped).text != OPERATOR.emit(large, shaped).text


def test_padding_that_a_copys_rounds_would_split_is_refused() -> None:
    """80 columns of A are copied by 256 threads, so 3 rows at a time, but lanes that share a tile along k have padding
    after each 4 rows.
    """
    problem = SgemmProblem(80, 128, 96, transpose_a=True)
    tile = {"block_m": 80, "block_k": 32, "warp_m": 40, "warp_n": 32, "thread_m": 20, "thread_n": 4}
    schedule = SgemmSchedule(**tile, pad_a=4, vector_a=1)
    assert schedule.lanes_k == 2
    refused = "pad_a follows each 4 rows, but 256 threads copy 3 rows at a time"
    assert OPERATOR.violations(problem, schedule, LIMITS) == [refused]
    with pytest.raises(EmulatorError):
        verify(problem, emit(problem, schedule))
    verify(problem, OPERATOR.source(problem, replace(schedule, pad_a=0), LIMITS))
