"""Times that Kernel Tuner and others have measured, as trials of an operator with the same parameters."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.db.states import Status, TimeSource
from autotune.db.trials import DeviceRecord, ProblemRecord, Trial
from autotune.search_spaces.contract.known import possible_schedule
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.space import Draw, Value
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import impossible_rate

from .measured_space import read_space

_MILLISECONDS = 1e-3


def foreign_trials(path: Path, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec) -> list[Trial]:
    """The trials of a file of T4 results, or of a cache of Kernel Tuner, as times of a problem on a device.

    The configurations are draws of the operator's space, by the names of its parameters; what the file leaves out has
    the value of the default schedule. Configurations that are illegal here are left out.

    Raises:
        OSError: the file cannot be read.
        ValueError: one line; it has no results, others than of this space, or times that the device cannot reach.
    """
    measured = read_space(path)
    if measured is None:
        raise ValueError(f"{path} has no results: expected T4, or a cache of Kernel Tuner")
    return list(_trials(path, measured.space.all_draws(), measured.outcomes, operator, problem, spec))


def _trials(
    path: Path, draws: Any, outcomes: Any, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec
) -> Iterator[Trial]:
    of = DeviceRecord.of(spec), ProblemRecord.of(operator.name, problem)
    space, default = operator.space(problem, spec), operator.default(problem, spec)
    known = {parameter.name: parameter.values for parameter in space.parameters}
    usual = space.draw_of(default)
    for draw, outcome in zip(draws, outcomes.values(), strict=True):
        if unknown := [name for name in draw if name not in known]:
            raise ValueError(f"{path} has a parameter {unknown[0]}: {operator.name} has {', '.join(known)}")
        own: Draw = {**usual, **{name: _of_kind(value, known[name]) for name, value in draw.items()}}
        schedule = space.build(own)
        possible_schedule(operator, schedule.to_dict())
        if operator.violations(problem, schedule, spec):
            continue
        seconds = outcome.time * _MILLISECONDS
        ok = isfinite(seconds)
        if ok and (why := impossible_rate(problem, seconds, spec)):
            raise ValueError(f"{path}: {schedule}: {why}")
        yield Trial(
            *of,
            schedule.to_dict(),
            schedule.digest,
            Status.OK if ok else Status.LAUNCH_ERROR,
            TimeSource.MEASURED,
            (seconds,) if ok else (),
            error="" if ok else "failed where it was measured",
            environment={"file": path.name},
        )


def _of_kind(value: Value, values: tuple[Value, ...]) -> Value:
    """The value as the parameter has it: Kernel Tuner's flags are numbers."""
    return bool(value) if values and isinstance(values[0], bool) and value in (0, 1) else value
