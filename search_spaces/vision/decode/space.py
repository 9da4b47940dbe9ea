"""decode: schedules that are legal, and problems that prove them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.vision.decode.problem import DecodeProblem
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

_MOST_THREADS = 1024


def constraints(problem: DecodeProblem, schedule: DecodeSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if (threads := schedule.points * schedule.splits) > _MOST_THREADS:
        yield f"points {schedule.points} of {schedule.splits} splits: {threads} threads over {_MOST_THREADS}"


def checks(problem: DecodeProblem, schedule: DecodeSchedule) -> list[tuple[DecodeProblem, DecodeSchedule]]:
    """84 points of two pictures, with little room; and 252 of one."""
    classes = min(problem.classes, 11)
    few = replace(problem, height=64, width=64, batch=2, classes=classes, capacity=7)
    return [(replace(few, width=192, batch=1, capacity=300), schedule), (few, schedule)]
