"""What the time model promises before anything is compiled, and which of the schedules to try first it prefers."""

from __future__ import annotations

from math import hypot
from typing import Any

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..compiler import Resources
from ..devices.model import fixed_seconds, predict_seconds
from ..search_spaces.limits import DeviceLimits
from ..search_spaces.occupancy import WARP_THREADS
from ..search_spaces.operator import Operator
from .transfer import roofline_seconds, steps, tile_waste

STEP_SECONDS = 0.3e-6  # that a block waits for its next tiles along k; of stages in flight each waits its share
TIE = 1.015  # ratio of two modelled times of which neither is believed to be shorter


def preferred(operator: Operator[Any, Any], problem: Problem, limits: DeviceLimits) -> tuple[Schedule, float]:
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


def least_seconds(problem: Problem, limits: DeviceLimits) -> float:
    """A time that no modelled one is below."""
    return fixed_seconds(shared=False) + roofline_seconds(problem, limits)


def modelled_seconds(operator: Operator[Any, Any], problem: Problem, schedule: Schedule, limits: DeviceLimits) -> float:
    """The time model's answer before the kernel is compiled: threads have all registers that its blocks leave them.

    The model knows neither tiles nor stages. What partly empty tiles waste is put on top. A block that goes through
    many tiles along k with few stages in flight waits for memory, however little there is to compute; as it does both
    in part at once, their squares add up.
    """
    source = operator.source(problem, schedule, limits)
    threads = source.launch.threads * getattr(schedule, "min_blocks", 1)
    unit = limits.register_unit // WARP_THREADS
    registers = min(limits.registers_per_thread, limits.registers_per_sm // threads // unit * unit)
    try:
        modelled = predict_seconds(problem, source, Resources(registers), limits)
    except ValueError:  # the driver may still have room for what the model has not
        return float("inf")
    fixed = fixed_seconds(source.workspace_bytes > 0)
    waits = steps(problem, schedule) * STEP_SECONDS / max(1, getattr(schedule, "stages", 1) - 1)
    return fixed + hypot(tile_waste(problem, schedule) * modelled - fixed, waits)
