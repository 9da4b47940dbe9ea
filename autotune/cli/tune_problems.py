"""Which problems ``autotune tune`` is asked for, and as whose."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.db import TuningDB
    from autotune.devices.base import Device


def statements_of(operator: Any, problem: Problem, device: Device) -> list[tuple[Any, Problem]]:
    """The operators that may serve a problem, the problem's own first, each with what it is asked for.

    The dispatcher takes one of another operator only for a measured time, once there is one of the problem's own. A
    recording is of one operator.
    """
    from autotune.devices.replay import ReplayDevice
    from autotune.search_spaces.contract.registry import operator as registered

    restated = operator.restated(problem) if operator.restated and not isinstance(device, ReplayDevice) else None
    return [(operator, problem), *([(registered(restated.operator), restated.problem)] if restated else [])]


def not_empty(operator: Any, problems: list[Problem]) -> list[Problem]:
    """The problems that compute something."""
    for problem in problems:
        if problem.empty:
            print(f"nothing to tune: {operator.name} {problem.key} has nothing to compute", file=sys.stderr)
    return [problem for problem in problems if not problem.empty]


def stale_of(operator: Any, device: Device, database: TuningDB) -> list[Problem]:
    """The problems whose record on this device model is stale."""
    from autotune.runs.history import stale_problems

    problems = stale_problems(operator, device, database)
    if not problems:
        print(f"nothing to tune: no record of {operator.name} on {device.spec.name} is stale", file=sys.stderr)
    return problems


def untuned_of(operator: Any, device: Device, database: TuningDB) -> list[Problem]:
    """The problems without a record that programs called on this device model, the most called first."""
    from autotune.tuner.untuned import untuned_problems

    untuned = untuned_problems(operator, device, database)
    if not untuned:
        print(f"nothing to tune: there are no untuned calls of {operator.name} on {device.spec.name}", file=sys.stderr)
    return untuned
