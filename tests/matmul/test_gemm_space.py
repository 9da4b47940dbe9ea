"""Which gemm schedules are legal, and which come first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matmul.gemm_cases import LIMITS

from autotune.codegen.dtype import DType
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule, SharedLayout
from autotune.devices.time_model import modelled_seconds
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.matmul.gemm import OPERATOR

SQUARE = GemmProblem(4096, 4096, 4096, transpose_b=True)


@pytest.mark.parametrize(
    ("problem", "words", "violation"),
    [
        (SQUARE, "BM=96 WM=64", "block_m 96 is not a multiple of warp_m 64"),
        (SQUARE, "BM=128 WM=128", "256 sums of a thread over 128"),
        (SQUARE, "BK=8", "block_k 8 is not a multiple of the 16 terms of a product of bfloat16"),
        (SQUARE, "BK=16", "double_buffer_fragments needs a block_k that is a multiple of 32, not 16"),
        (replace(SQUARE, align_a=8), "", "vector_a 8 over the 4 elements that A is aligned for"),
        (
            GemmProblem(64, 4096, 64),
            "BM=64 BN=512 vector_b=1",
            "256 threads do not divide into rows of 512 vectors of B",
        ),
        (replace(SQUARE, align_d=2), "", "vector_d 8 over the 1 elements that D is aligned for"),
        (SQUARE, "WN=16 vector_d=16", "vector_d 16 over half of the 16 columns of a warp"),
        (GemmProblem(64, 64, 64), "grid_blocks=3", "3 blocks over the 2 steps along k of all tiles"),
        (
            GemmProblem(2**30, 2**30, 64),
            "",
            f"{2**46} tiles over the {2**31 - 1} blocks of a grid",
        ),
        (
            GemmProblem(4096, 4096, 2**20),
            "grid_blocks=8193",
            f"a workspace of {8193 * (16 + 8 * 128 * 128)} bytes over {2**30}",
        ),
    ],
)
def test_a_violation_has_its_values(problem: GemmProblem, words: str, violation: str) -> None:
    assert violation in OPERATOR.violations(problem, GemmSchedule.parse(words.split()), LIMITS)


def test_shared_memory_holds_stages_or_sums() -> None:
    schedule = GemmSchedule.parse(["BM=128", "BN=256", "BK=64", "stages=4"])
    assert schedule.shared_bytes(SQUARE) == 4 * (128 + 256) * 64 * 2
    padded = replace(schedule, shared_layout=SharedLayout.PADDED)
    assert padded.shared_bytes(SQUARE) == 4 * (128 + 256) * (64 * 2 + 16)
    few = GemmSchedule.parse(["BM=64", "BN=64", "BK=16", "WM=16", "WN=16", "stages=2"])
    assert few.shared_bytes(SQUARE) == 16 * 16 * (16 + 8) * 4


def test_large_tiles_come_first_where_they_fill_the_device() -> None:
    assert OPERATOR.default(SQUARE, LIMITS).block_m * OPERATOR.default(SQUARE, LIMITS).block_n == 128 * 256
    few = GemmProblem(16, 4096, 8192, transpose_b=True)
    default = OPERATOR.default(few, LIMITS)
    assert default.block_m == 16
    assert default.blocks(few) >= LIMITS.sm_count


@pytest.mark.parametrize("name", ["t4", "a100", "rtx4090", "h200", "b200"])
def test_a_square_is_modelled_below_the_peak(name: str) -> None:
    spec, problem = named_device(name), replace(SQUARE, dtype=DType.FLOAT16)
    seconds = modelled_seconds(OPERATOR, problem, OPERATOR.default(problem, spec), spec)
    least = problem.work.operations[problem.unit] / spec.peak(problem.unit)
    assert least < seconds < 4 * least


def test_shared_matrices_are_read_once() -> None:
    problem = GemmProblem(8, 16, 32, batch=3)
    own = replace(problem, stride_a=256, stride_b=512)
    assert own.work.bytes - problem.work.bytes == 2 * 2 * (8 * 32 + 16 * 32)
