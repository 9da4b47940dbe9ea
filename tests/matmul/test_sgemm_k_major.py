"""K-major tiles: an operand that lies along k is copied in vectors, and nothing transposes it."""

from dataclasses import replace

import pytest
from sgemm_cases import SPEC

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, LaneMap, SgemmSchedule, strip_width
from autotune.emulator import verify
from autotune.search_spaces.matmul.sgemm import OPERATOR

BOTH = SgemmSchedule(
    block_m=16, block_n=32, block_k=16, warp_m=16, warp_n=16, thread_m=4, thread_n=4, lane_map=LaneMap.ROW_MAJOR,
    copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, pad_a=4, pad_b=4, stages=3, copy_steps=4, vector_c=1,
)  # fmt: skip
ONE = replace(BOTH, vector_a=1, double_buffer_fragments=False, lane_map=LaneMap.Z_ORDER)
FEW_ROWS = replace(ONE, block_m=4, warp_m=4, thread_m=4, thread_n=2, warp_n=8, block_k=32, pad_b=0, copy_steps=1)


@pytest.mark.parametrize(
    ("problem", "schedule"),
    [
        # three warps copy six rows at a time: groups of four rows lie unevenly
        (SgemmProblem(16, 48, 192, transpose_b=True), replace(BOTH, block_n=48, block_k=64)),
        (SgemmProblem(17, 35, 53, transpose_b=True, lda=56, ldb=56, batch=2, beta_nonzero=True), BOTH),
        (SgemmProblem(17, 35, 54, transpose_b=True), replace(ONE, vector_b=2, warps_k=2)),
        (SgemmProblem(17, 35, 52), replace(ONE, copy_b=CopyMode.REGISTERS, copy_steps=1, vector_a=4, vector_b=1)),
        (SgemmProblem(4, 50, 161, transpose_b=True, ldb=164), replace(FEW_ROWS, grid_blocks=3)),
    ],
)
def test_tiles_that_lie_along_k(problem: SgemmProblem, schedule: SgemmSchedule) -> None:
    assert any(schedule.k_major(problem, operand) for operand in "ab")
    verify(problem, OPERATOR.program(problem, schedule, SPEC))


def test_seeds_read_k_major_tiles_from_all_banks() -> None:
    """Shared memory serves eight lanes at once: their vectors lie in eight different groups of four banks."""
    problems = [SgemmProblem(m, 4096, 4096, transpose_b=True) for m in (1, 16, 64)]
    problems += [SgemmProblem(4096, n, 4096, transpose_b=True) for n in (16, 64)]
    seen = set()
    for problem in problems:
        for schedule in OPERATOR.candidates(problem, SPEC):
            for operand, side in (("a", "m"), ("b", "n")):
                if schedule.k_major(problem, operand):
                    width = strip_width(getattr(schedule, f"thread_{side}"))
                    lanes = min(8, getattr(schedule, f"warp_{side}") // getattr(schedule, f"thread_{side}"))
                    row = width * schedule.block_k + getattr(schedule, f"pad_{operand}")
                    columns = max(1, min(lanes, 8 // schedule.lanes_k))
                    vectors = [lane * row // 4 + k for lane in range(columns) for k in range(min(8, schedule.lanes_k))]
                    assert len({vector % 8 for vector in vectors}) == len(vectors), schedule
                    seen.add(operand)
    assert seen == {"a", "b"}
