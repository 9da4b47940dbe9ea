"""Random legal schedules of operators on rows, each with an odd problem that fits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from random import Random
from typing import TypeVar

from autotune.codegen.rows.problem import RowProblem
from autotune.codegen.rows.schedule import RowSchedule
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

# The emulator walks through every element, and keeps a stack for every thread.
_ELEMENTS, _THREADS = 2**14, 2**11

P = TypeVar("P", bound=RowProblem)
S = TypeVar("S", bound=RowSchedule)


def drawn(
    operator: Operator[P, S], problem: Callable[[Random, int], P], rows: int, count: int, spec: DeviceSpec
) -> list[tuple[P, S]]:
    """`count` cases that are legal on a device; always the same ones.

    Args:
        operator: whose space is drawn from.
        problem: makes the problem of a turn.
        rows: how many some of the problems have; others have one, or a block's, or one more.
        count, spec: how many cases, for which device.
    """
    random = Random(0)
    return [_case(operator, partial(problem, random, turn), random, rows, spec) for turn in range(count)]


def _case(operator: Operator[P, S], made: Callable[[], P], random: Random, rows: int, spec: DeviceSpec) -> tuple[P, S]:
    while True:
        problem = made()
        space = operator.space(problem, spec)
        for draw in islice(space.random_draws(random.randrange(2**32)), 20):
            schedule = space.build(draw)
            count = random.choice((1, schedule.rows_per_block, schedule.rows_per_block + 1, rows))
            fitting = replace(problem, rows=count)
            small = count * problem.columns <= _ELEMENTS and schedule.threads * schedule.cluster <= _THREADS
            if small and not operator.violations(fitting, schedule, spec):
                return fitting, schedule
