"""softmax_backward's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from random import Random

from rows.drawn_rows import drawn

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.problem import DTYPES
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.rows.softmax_backward import OPERATOR

SPEC = named_device("h200")
BF16, FP16 = DType.BFLOAT16, DType.FLOAT16
Case = tuple[SoftmaxBackwardProblem, SoftmaxBackwardSchedule]

PROBLEMS = {
    "rows4096-columns4096-float32": SoftmaxBackwardProblem(4096, 4096),
    "rows8192-columns513-bfloat16-log-alignx2": SoftmaxBackwardProblem(8192, 513, BF16, log=True, align_x=2),
    "rows1-columns1073741824-bfloat16": SoftmaxBackwardProblem(1, 2**30, BF16),
    "rows5-columns33-float32-ldx40-ldd48": SoftmaxBackwardProblem(5, 33, ldx=40, ldd=48),
    "rows0-columns5-float16-log": SoftmaxBackwardProblem(0, 5, FP16, log=True),
}
SMALL_PROBLEMS = (
    SoftmaxBackwardProblem(16, 256, log=True),
    SoftmaxBackwardProblem(19, 131, BF16, ldx=136),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, dtypes in turn; always the same ones."""
    return drawn(OPERATOR, _problem, 7, count, spec)


def _problem(random: Random, turn: int) -> SoftmaxBackwardProblem:
    dtype = DTYPES[turn % len(DTYPES)]
    columns = random.choice((1, 31, 64, 513, 1024, 2050, 4096, 8191))
    width = random.choice((1, 2, 4, 8))
    return SoftmaxBackwardProblem(
        2,
        columns,
        dtype,
        log=turn % 2 > 0,
        ldx=round_up(columns, width) + width * random.choice((0, 1)),
        align_x=min(16, random.choice((16, width * dtype.bytes))),
        ldd=round_up(columns, width),
    )


CASES = drawn_cases(14)
