"""norm_backward's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.norm_backward.schedule import NormBackwardSchedule
from autotune.codegen.rows.problem import DTYPES
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.rows.norm_backward import OPERATOR

SPEC = named_device("h200")
BF16, FP16 = DType.BFLOAT16, DType.FLOAT16
# The emulator walks through every element.
_ELEMENTS = 2**14

Case = tuple[NormBackwardProblem, NormBackwardSchedule]

PROBLEMS = {
    "rows4096-columns4096-float32-layer": NormBackwardProblem(4096, 4096),
    "rows8192-columns513-bfloat16-rms-unbiased-float32weight-alignx2": NormBackwardProblem(
        8192, 513, BF16, centered=False, bias=False, float32_weight=True, align_x=2
    ),
    "rows1-columns1073741824-bfloat16-rms-unweighted-unbiased": NormBackwardProblem(
        1, 2**30, BF16, centered=False, weight=False, bias=False
    ),
    "rows5-columns33-float32-layer-unweighted-saved-ldx40-ldd48": NormBackwardProblem(
        5, 33, weight=False, saved=True, ldx=40, ldd=48
    ),
    "rows0-columns5-float16-layer-alignw4": NormBackwardProblem(0, 5, FP16, align_w=4),
}
SMALL_PROBLEMS = (
    NormBackwardProblem(16, 256),
    NormBackwardProblem(19, 131, BF16, centered=False, bias=False, saved=True, float32_weight=True, ldx=136),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, dtypes in turn; always the same ones."""
    random = Random(0)
    return [_case(random, spec, index) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, turn: int) -> Case:
    while True:
        problem = _problem(random, turn)
        space = OPERATOR.space(problem, spec)
        for draw in islice(space.random_draws(random.randrange(2**32)), 20):
            schedule = replace(space.build(draw), grid_blocks=random.choice((1, 2, 3)))
            rows = random.choice((1, schedule.rows_per_block, 2 * schedule.rows_per_block + 1, 7))
            fitting = replace(problem, rows=rows)
            if rows * problem.columns <= _ELEMENTS and not OPERATOR.violations(fitting, schedule, spec):
                return fitting, schedule


def _problem(random: Random, turn: int) -> NormBackwardProblem:
    dtype = DTYPES[turn % len(DTYPES)]
    columns = random.choice((1, 31, 64, 513, 1024, 2050))
    width = random.choice((1, 2, 4, 8))
    return NormBackwardProblem(
        2,
        columns,
        dtype,
        centered=turn % 2 > 0,
        weight=turn % 5 > 0,
        bias=turn % 4 > 1,
        saved=turn // 2 % 2 > 0,
        float32_weight=turn % 3 > 0,
        ldx=round_up(columns, width) + width * random.choice((0, 1)),
        align_x=max(dtype.bytes, min(16, width * dtype.bytes)),
        ldd=round_up(columns, width),
        align_w=random.choice((4, 16)),
    )


CASES = drawn_cases(14)
