"""Which of the schedules to try first the time model prefers."""

from __future__ import annotations

from typing import Any

from ...codegen.problem import Problem
from ...codegen.schedule import Schedule
from ...devices.time_model import modelled_seconds
from ...search_spaces.device_spec import DeviceSpec
from ...search_spaces.operator import Operator

TIE = 1.015  # ratio of two modelled times of which neither is believed to be shorter


def preferred(operator: Operator[Any, Any], problem: Problem, limits: DeviceSpec) -> tuple[Schedule, float]:
    """The best of an operator's seeds by the time model, made for any size, and its modelled seconds.

    The model has the same time for many large tiles. Of those the first one serves, as seeds come best guess first; but
    those that were found with kernels for any size go before those that were found with kernels for one shape.
    """
    seeds = operator.seeds(problem, limits)
    general = [schedule.for_any_size for schedule in seeds]
    found = [schedule for schedule, same in zip(seeds, general, strict=True) if schedule == same]
    ordered = dict.fromkeys([*found, *general])
    seconds = {schedule: modelled_seconds(operator, problem, schedule, limits) for schedule in ordered}
    least = min(seconds.values())
    return next((schedule, time) for schedule, time in seconds.items() if time <= TIE * least)
