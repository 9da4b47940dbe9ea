"""A recording: an operator, a problem, the device's limits, and a trial for each schedule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.recording import read_recording
from autotune.db.states import Status, TimeSource
from autotune.db.trials import Trial
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as operator_of
from autotune.search_spaces.contract.restriction import restrict_schedules
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec
from autotune.search_spaces.machine.roofline import impossible_rate


@dataclass(frozen=True, eq=False)
class Recording:
    """The trials of one problem on one device; compared by identity, so that what follows from it can be cached.

    Attributes:
        path: the file.
        operator: the operator as if its only legal schedules were those recorded.
        problem, spec, time_source: of all trials.
        trials: by schedule, without those that are illegal in this version or outside of its search space.
    """

    path: Path
    operator: Operator[Any, Any]
    problem: Problem
    spec: DeviceSpec
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
    spec = device_spec(first.device.limits)
    for trial in trials:
        if trial.seconds is not None and (why := impossible_rate(problem, trial.seconds, spec)):
            raise ValueError(why)
    space = operator.space(problem, spec)
    read = ((operator.schedule(trial.schedule), trial) for trial in trials)
    legal = {s: trial for s, trial in read if not operator.violations(problem, s, spec) and s in space}
    if not any(trial.status is Status.OK for trial in legal.values()):
        raise ValueError(f"none of the {len(trials)} schedules is legal here and ok")
    return Recording(path, restrict_schedules(operator, legal, str(path)), problem, spec, first.time_source, legal)
