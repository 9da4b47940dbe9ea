"""A recording as the rest of the project knows it: an operator, a problem, limits, and a trial for each schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..codegen.work import Unit
from ..db.recording import read_recording
from ..db.records import Trial
from ..db.states import Status, TimeSource
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.devices import completed_spec
from ..search_spaces.operator import Operator
from ..search_spaces.registry import operator as operator_of
from ..search_spaces.restriction import restrict_schedules
from .timing import impossible_rate


@dataclass(frozen=True, eq=False)
class Recording:
    """The trials of one problem on one device; compared by identity, so that what follows from it can be cached.

    Attributes:
        path: the file.
        operator: the operator as if its only legal schedules were those recorded.
        problem, limits, time_source: of all trials.
        trials: by schedule; those that this version finds illegal, or outside of its search space, are left out.
    """

    path: Path
    operator: Operator[Any, Any]
    problem: Problem
    limits: DeviceSpec
    time_source: TimeSource
    trials: Mapping[Schedule, Trial]

    @cached_property
    def seconds(self) -> dict[Schedule, float]:
        """The median of each schedule that is ok."""
        found = {schedule: trial.seconds for schedule, trial in self.trials.items() if trial.status is Status.OK}
        return {schedule: seconds for schedule, seconds in found.items() if seconds is not None}

    @property
    def optimum(self) -> float:
        """The shortest time."""
        return min(self.seconds.values())


def load(path: Path) -> Recording:
    """Read a recording; nothing in the file is trusted.

    Raises:
        OSError: the file cannot be read.
        ValueError: one line that says what is wrong with it.
    """
    trials = read_recording(path)
    try:
        return _interpreted(path, trials)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _interpreted(path: Path, trials: list[Trial]) -> Recording:
    settings = {(t.problem.operator, t.problem.key, t.device.model, t.time_source) for t in trials}
    if len(settings) != 1:
        raise ValueError(f"trials of {len(settings)} problems, devices and kinds of time: expected one")
    first = trials[0]
    operator = operator_of(first.problem.operator)
    problem = operator.problem_type.from_dict(first.problem.fields)
    if problem.key != first.problem.key:
        raise ValueError(f"the problem's fields are those of {problem.key}, its key is {first.problem.key}")
    limits = _limits(first.device.limits)
    for trial in trials:
        if trial.seconds is not None and (why := impossible_rate(problem, trial.seconds, limits)):
            raise ValueError(why)
    space = operator.space(problem, limits)
    read = ((operator.schedule_type.from_dict(trial.schedule), trial) for trial in trials)
    legal = {s: trial for s, trial in read if not operator.violations(problem, s, limits) and s in space}
    if not any(trial.status is Status.OK for trial in legal.values()):
        raise ValueError(f"none of {len(trials)} schedules is legal here and was ok")
    return Recording(path, restrict_schedules(operator, legal, str(path)), problem, limits, first.time_source, legal)


def _limits(values: Mapping[str, Any]) -> DeviceSpec:
    """The limits, each figure of its type and above 0 where nothing else makes sense."""
    values = completed_spec(values)
    kinds = get_type_hints(DeviceSpec)
    if set(values) != set(kinds):
        raise ValueError(f"the device's limits are {', '.join(values)}: expected {', '.join(kinds)}")
    plain = dict(values)
    capability = plain.pop("compute_capability")
    if not (isinstance(capability, list) and len(capability) == 2 and all(type(part) is int for part in capability)):
        raise ValueError(f"compute_capability={capability}: expected two whole numbers")
    rates = _rates(plain.pop("rates"))
    for name, value in plain.items():
        kind, least = kinds[name], int(name != "shared_reserved")
        fits = type(value) is kind or (kind is float and type(value) is int)
        if not fits or (kind is not str and not least <= value < 1e18):
            expected = "text" if kind is str else f"{kind.__name__} of at least {least}"
            raise ValueError(f"{name}={value!r} of the device's limits: expected {expected}")
    return DeviceSpec(compute_capability=(capability[0], capability[1]), rates=rates, **plain)


def _rates(values: Any) -> dict[Unit, int]:
    """The rates by unit, FP32's among them, each a whole number above 0."""
    wrong = not isinstance(values, dict) or Unit.FP32 not in values or not set(values) <= set(Unit)
    if wrong or any(type(rate) is not int or not 1 <= rate < 1e9 for rate in values.values()):
        raise ValueError(f"rates={values!r} of the device's limits: expected whole numbers for fp32 and other units")
    return {Unit(name): rate for name, rate in values.items()}
