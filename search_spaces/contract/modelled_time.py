"""How long a schedule takes by the time model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.time_model import program_seconds

from .operator import Operator

_FEW = 3


def modelled_seconds(
    operator: Operator[Any, Any],
    problem: Problem,
    schedule: Schedule,
    spec: DeviceSpec,
    compiled: Resources | None = None,
) -> float:
    """The time of a legal schedule's program: of its launches, one after the other.

    Args:
        operator: whose `workload` counts what the launches do.
        problem, schedule: what is computed, and how.
        spec: the device.
        compiled: what the compiled kernels use; see `program_seconds`.

    Raises:
        ValueError: the compiled kernel does not fit on an SM.
    """
    return program_seconds(operator.workload(problem, schedule, spec), spec, compiled)


def fastest_first(
    operator: Operator[Any, Any], problem: Problem, schedules: Iterable[Schedule], spec: DeviceSpec
) -> list[Schedule]:
    """Legal schedules by modelled time; those of the same time keep their order."""
    return sorted(schedules, key=lambda schedule: operator.forecast(problem, schedule, spec).seconds)


def likely_first(
    operator: Operator[Any, Any], problem: Problem, schedules: Iterable[Schedule], spec: DeviceSpec
) -> list[Schedule]:
    """The same, each once, with the default among the first few: the model may be wrong, and few may be tried.

    Where nobody counted what a kernel of the operator does, the default comes first.
    """
    likely = list(dict.fromkeys(fastest_first(operator, problem, schedules, spec)))
    latest = _FEW - 1 if operator.counted else 0
    default = operator.default(problem, spec)
    if default in likely[latest:]:
        likely.remove(default)
        likely.insert(latest, default)
    return likely
