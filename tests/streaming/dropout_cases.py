"""dropout's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random

from pair_coverage import covering

from autotune.codegen.model.integers import round_up
from autotune.codegen.streaming.dropout.problem import DTYPES, DropoutProblem, Mask
from autotune.codegen.streaming.dropout.schedule import DropoutSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.streaming.dropout import OPERATOR

SPEC = named_device("h200")
# The emulator walks through every element: larger problems take long and add nothing.
_ELEMENTS = 1 << 14

FLOAT32, BFLOAT16, FLOAT16 = DTYPES
BYTES, BITS = Mask.BYTES, Mask.BITS
Case = tuple[DropoutProblem, DropoutSchedule]
KINDS = (
    {},
    {"bias": True, "residual": True},
    {"mask": BYTES, "state": True},
    {"mask": BITS},
    {"residual": True},
    {"bias": True, "mask": BITS},
    {"bias": True, "residual": True, "mask": BYTES},
)

PROBLEMS = {
    "rows1-columns16777216-float32-nomask": DropoutProblem(4096, 4096),
    "rows4096-columns4096-bfloat16-bias-residual-nomask": DropoutProblem(4096, 4096, BFLOAT16, True, True),
    "rows1-columns2147483649-float16-nomask": DropoutProblem(1, 2**31 + 1, FLOAT16),
    "rows100000-columns40000-bfloat16-bias-bits-alignmask1": DropoutProblem(
        10**5, 40000, BFLOAT16, True, mask=BITS, align_mask=1
    ),
    "rows300-columns70-float16-bytes-state-ldx72-alignx4-ldy72": DropoutProblem(
        300, 70, FLOAT16, mask=BYTES, state=True, ldx=72, ldy=72, align_x=4
    ),
    "rows1-columns1-float32-nomask": DropoutProblem(1, 1),
    "rows1-columns0-float32-bits": DropoutProblem(7, 0, mask=BITS),
    "rows0-columns5-bfloat16-bias-nomask": DropoutProblem(0, 5, BFLOAT16, True),
}
SMALL_PROBLEMS = (
    DropoutProblem(4, 512),
    DropoutProblem(5, 513, BFLOAT16, True, True),
    DropoutProblem(3, 75, FLOAT16, state=True, mask=BITS),
    DropoutProblem(7, 51, FLOAT32, True, True, BYTES, ldx=52, ldy=56, ldr=52, align_x=8),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, kinds of problems in turn; always the same ones."""
    random = Random(8)
    return [_case(random, spec, index) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, index: int) -> Case:
    dtype = DTYPES[(index + index // 3) % 3]
    align = random.choice([width for width in (2, 4, 8, 16, 16, 16) if width >= dtype.bytes])
    like = DropoutProblem(64, 1 << 10, dtype, align_x=align, ldx=1040, **KINDS[index % len(KINDS)])
    space = OPERATOR.space(like, spec)
    for draw in islice(space.random_draws(random.randrange(2**32)), 1000):
        schedule = space.build(draw)
        problem = _problem(random, schedule, like)
        if problem.elements <= _ELEMENTS and not OPERATOR.violations(problem, schedule, spec):
            return problem, schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random: Random, schedule: DropoutSchedule, like: DropoutProblem) -> DropoutProblem:
    """A few tiles, or a little more or less, in rows with gaps or without."""
    elements = schedule.tile * schedule.vector_width
    columns = max(1, random.choice((elements, elements + 1, elements // 2 + 3, 2 * elements - 5, 37)))
    rows = random.choice((1, 2, 5))
    gaps = random.random() < 0.5
    if gaps and like.mask is Mask.BITS:
        columns = round_up(columns, 8)
    leading = [round_up(columns, 8) + 8 * random.choice((1, 2)) if gaps else 0 for _ in range(3)]
    ldr = leading[2] if like.residual else 0
    return replace(like, rows=rows, columns=columns, ldx=leading[0], ldy=leading[1], ldr=ldr)


def _place(problem: DropoutProblem, schedule: DropoutSchedule) -> tuple[bool, ...]:
    """How a block finds its elements, and whether rows are whole vectors."""
    return schedule.by_rows(problem), schedule.wraps(problem), problem.columns % schedule.vector_width == 0


CASES = covering(drawn_cases(320), _place)
