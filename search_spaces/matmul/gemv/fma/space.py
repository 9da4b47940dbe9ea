"""gemv: which schedules by FMAs are legal, and drawn."""

from __future__ import annotations

from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemv import fitting


def constraints(problem: GemvProblem, schedule: FmaSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    return fitting.common_violations(problem, schedule, spec)


def fitted(problem: GemvProblem, schedule: FmaSchedule, spec: DeviceSpec) -> FmaSchedule:
    """See `fitting.within_limits`."""
    return fitting.within_limits(problem, schedule, spec)


def space(problem: GemvProblem, spec: DeviceSpec) -> Space[FmaSchedule]:
    """See `fitting.space`."""
    return fitting.space(problem, spec, FmaSchedule, fitted)
