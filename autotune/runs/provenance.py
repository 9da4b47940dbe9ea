"""Where a trial's time comes from, and why it, or the verdict on its outputs, may no longer hold."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.compiler import compiler_version
from autotune.db.freshness import changed_judge, changed_program
from autotune.db.states import Objective
from autotune.db.trials import Trial, Tried
from autotune.devices.base import Device
from autotune.search_spaces.contract.generator import generator_digest, vouches
from autotune.search_spaces.contract.operator import Operator

# Of an environment, what a time depends on; the rest, such as the board's UUID, is for people.
_DEPENDS_ON = ("driver", "limits", "time model")


def environment(device: Device) -> dict[str, str]:
    """The environment of a trial made now on a device."""
    return {**device.environment, "limits": device.spec.digest}


def depends_on(device: Device | None) -> dict[str, str]:
    """What the times of trials made now depend on beside their programs, as far as is known without a device.

    Raises:
        CompilerMissingError: there is no compiler.
    """
    now = {"compiler": compiler_version()}
    if device:
        now |= {name: value for name, value in environment(device).items() if name in _DEPENDS_ON}
    return now


def study_name(
    operator: Operator[Any, Any],
    problem: Problem,
    device: Device,
    prefix: str | None = None,
    objective: Objective = Objective.TIME,
) -> str:
    """What tells studies of a problem and a device model apart: a digest of all that the times in one depend on.

    Args:
        operator, problem, device: what is tuned.
        prefix: a name that tuners give who want a study of their own.
        objective: what is minimised.

    Raises:
        CompilerMissingError: there is no compiler.
    """
    program = operator.emit(problem, operator.default(problem, device.spec)).digest
    values = [(parameter.name, parameter.values) for parameter in operator.space(problem, device.spec).parameters]
    known = json.dumps([depends_on(device), device.time_source, program, values, generator_digest()], sort_keys=True)
    digest = hashlib.sha256(known.encode()).hexdigest()[:8] + f"-{objective}" * (objective is Objective.ENERGY)
    return f"{prefix}: {digest}" if prefix else digest


def in_study(trial: Tried, name: str, operator: Operator[Any, Any]) -> bool:
    """Whether a trial ended in a study of today's `study_name`, and of one that vouches for the operator's programs."""
    return vouches(operator) and trial.study.rpartition(" ")[2] == name


def stale(trial: Trial, device: Device | None) -> list[str]:
    """Why a trial's time or verdict may no longer hold: one line for each thing that has changed, none if nothing has.

    Args:
        trial: the trial of a registered operator; what it does not tell cannot have changed.
        device: the device that it was made on, as it is now; None if that is not here.

    Raises:
        CompilerMissingError: there is no compiler.
    """
    changed = changed_program(trial) or changed_judge(trial)
    return [*([changed] if changed else []), *changed_environment(trial, device)]


def changed_environment(trial: Trial | Tried, device: Device | None) -> list[str]:
    """`stale` without a look at the program."""
    then = {"compiler": trial.compiler, **trial.environment}
    now = depends_on(device)
    different = [name for name, value in now.items() if then.get(name) and then[name] != value]
    return [f"{name} {then[name]}, now {now[name]}" for name in different]
