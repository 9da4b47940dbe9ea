"""Whether a trial's kernel is the one that would run today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..codegen.problem import Problem
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.devices import device_spec
from ..search_spaces.operator import Operator
from ..search_spaces.registry import operator as registered
from .trials import Trial

OTHER_PROGRAM = "emits another program today"


def changed(
    operator: Operator[Any, Any], problem: Problem, limits: DeviceSpec, schedule: Mapping[str, Any], digest: str
) -> str:
    """Why a schedule does not emit the program of a digest; empty if it does, or if the digest is empty.

    Emitting takes half a millisecond. Nothing else about the generator is compared, so a change of it leaves all
    trials fresh whose programs it does not alter.
    """
    if not digest:
        return ""
    try:
        program = operator.program(problem, operator.schedule_type.from_dict(schedule), limits)
    except ValueError as error:
        return f"emits no program today: {error}"
    return "" if program.digest == digest else OTHER_PROGRAM


def changed_program(trial: Trial) -> str:
    """`changed` for a trial of a registered operator, with the limits that the trial was made under."""
    try:
        operator = registered(trial.problem.operator)
        problem = operator.problem_type.from_dict(trial.problem.fields)
        limits = device_spec(trial.device.limits)
    except ValueError as error:
        return f"emits no program today: {error}"
    return changed(operator, problem, limits, trial.schedule, trial.program_digest)
