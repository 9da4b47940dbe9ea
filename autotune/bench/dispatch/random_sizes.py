"""The dispatcher's loss on random sizes, relative to the fastest of a few likely schedules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from typing import Any

from autotune.codegen.model.fields import FieldSpec
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompileError
from autotune.devices.base import DeviceError
from autotune.dispatcher.choice.choose import Choice, choices, from_records
from autotune.dispatcher.choice.records import Record
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .example_call import problem_of_sizes
from .held_out import Measure

_RIVALS = 6  # nearest records, and as many seeds that the time model finds fastest


@dataclass(frozen=True)
class RandomSize:
    """A problem of random sizes, and the dispatcher's choice for it.

    Attributes:
        problem: of default kind and layout.
        choice: the schedule that serves it.
        rivals: other schedules: those of the nearest records, and the seeds that the time model finds fastest.
        loss: how much slower the choice is than the fastest of it and its rivals, as a share of that one's time, all
            measured interleaved; None if that failed, or was not tried.
        warmed: loss of the choice's shape-specialised kernel, as after `autotune warm`.
        error: why it failed, in one line; else empty.
    """

    problem: Problem
    choice: Choice
    rivals: tuple[Schedule, ...] = ()
    loss: float | None = None
    warmed: float | None = None
    error: str = ""


def random_sizes(
    operator: Operator[Any, Any], known: Sequence[Record], spec: DeviceSpec, count: int
) -> list[RandomSize]:
    """Problems whose sizes are drawn log-uniformly from 1 to twice their examples, the same ones each time."""
    random = Random(0)

    def size(name: str, field: FieldSpec) -> int:
        most = 2 * (field.example or 1)
        return max(1, int((min(most, field.most or most) + 1) ** random.random()))

    drawn = [problem_of_sizes(operator.problem_type, size) for _ in range(count)]
    return [RandomSize(problem, next(choices(operator, problem, spec, known))) for problem in drawn]


def with_rivals(
    operator: Operator[Any, Any], case: RandomSize, known: Sequence[Record], spec: DeviceSpec
) -> RandomSize:
    """The case with its rivals."""
    problem = case.problem
    legal = (choice for choice in from_records(operator, problem, spec, known) if not choice.reason)
    near = dict.fromkeys(choice.schedule for choice in legal)
    fast = fastest_first(operator, problem, operator.seeds(problem, spec), spec)
    rivals = dict.fromkeys([*islice(near, _RIVALS), *fast[:_RIVALS]])
    for own in to_measure(case)[:2]:
        rivals.pop(own, None)
    return replace(case, rivals=tuple(rivals))


def to_measure(case: RandomSize) -> list[Schedule]:
    """The choice's schedule, as it is and shape-specialised, then the rivals."""
    return [case.choice.schedule, case.choice.shape_specialized.schedule, *case.rivals]


def losses(cases: Sequence[RandomSize], measure: Measure) -> Iterator[RandomSize]:
    """The cases with their losses, one by one."""
    for case in cases:
        try:
            schedules = list(dict.fromkeys(to_measure(case)))
            seconds = dict(zip(schedules, measure(case.problem, schedules), strict=True))
        except (CompileError, DeviceError) as error:
            yield replace(case, error=str(error))
        else:
            loss, warmed = (seconds[one] / min(seconds.values()) - 1 for one in to_measure(case)[:2])
            yield replace(case, loss=loss, warmed=warmed)
