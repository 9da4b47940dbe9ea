"""Tiles in shared memory whose padding is odd: the tile that follows is aligned for vectors nevertheless."""

import pytest
from sgemm_cases import SPEC

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.emulator import verify
from autotune.search_spaces.matmul.sgemm import OPERATOR

SCHEDULE = SgemmSchedule(
    block_m=32, block_n=32, block_k=8, warp_m=16, warp_n=8, thread_m=1, thread_n=4, pad_a=1, stages=3, vector_a=4,
    vector_b=4,
)  # fmt: skip
TRANSPOSED = SgemmSchedule(
    block_m=32, block_n=32, block_k=8, warp_m=8, warp_n=16, thread_m=4, thread_n=1, pad_a=0, pad_b=1, stages=3,
    vector_b=4, vector_c=1,
)  # fmt: skip


@pytest.mark.parametrize(
    ("problem", "schedule", "operand"),
    [
        (SgemmProblem(32, 64, 40), SCHEDULE, "a"),
        (SgemmProblem(32, 64, 40, transpose_a=True, transpose_b=True), TRANSPOSED, "b"),
    ],
)
def test_a_tile_takes_whole_vectors(problem: SgemmProblem, schedule: SgemmSchedule, operand: str) -> None:
    padding = schedule.block_k // schedule.row_group(problem, operand)
    assert padding % 4 != 0
    verify(problem, OPERATOR.program(problem, schedule, SPEC))
