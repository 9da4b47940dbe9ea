"""Results of earlier runs: trials to continue from, and winners to try first."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from math import inf, log2
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..compiler import compiler_version
from ..db.freshness import changed
from ..db.states import Status, TimeSource
from ..db.trials import Trial, Tried
from ..devices.base import Device
from ..devices.time_model import fastest_first
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator
from .provenance import changed_environment

if TYPE_CHECKING:
    from ..db import TuningDB

_WINNERS = 5
_LOOKED_AT = 100  # of the best trials, which need the samples, too


def known_trials(operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB) -> dict[Schedule, float]:
    """What need not be tried again, with its `seconds_of`, oldest first.

    It is of the same device model and kind of time, legal and not stale.
    """
    spec = device.limits
    known: dict[Schedule, float] = {}
    for trial in db.tried(*_selection(operator, problem, device)):
        fresh = not changed(operator, problem, spec, trial.schedule, trial.program_digest)
        if fresh and not changed_environment(trial, device):
            known[operator.schedule_type.from_dict(trial.schedule)] = seconds_of(trial)
    return known


def seconds_of(trial: Trial | Tried) -> float:
    """What a sampler is told of a trial; infinite for one that failed."""
    return inf if trial.seconds is None or trial.status is not Status.OK else trial.seconds


def ranked(operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB) -> list[Trial]:
    """The trials that the database puts first, best first."""
    return db.ranked(*_selection(operator, problem, device), _LOOKED_AT)


def best_known(
    operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB, known: Container[str]
) -> Trial | None:
    """The trial that the database puts first among those of known schedules, by digest; None if none of them is ok."""
    return next((one for one in ranked(operator, problem, device, db) if one.schedule_digest in known), None)


def _selection(operator: Operator[Any, Any], problem: Problem, device: Device) -> tuple[str, str, str, str, TimeSource]:
    return operator.name, problem.key, device.limits.name, compiler_version(), device.time_source


def first_candidates(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, db: TuningDB) -> list[Schedule]:
    """What a run tries first: what won this problem before, then near winners and the seeds, fastest by the time model.

    Their order decides where the budget is few trials: what wins a small problem may be 25 times as slow as a seed on a
    large one.
    """
    own, near = _winners(operator, problem, spec, db)
    likely = fastest_first(operator, problem, [*near, *operator.seeds(problem, spec)], spec)
    return [*own, *likely]


def _winners(
    operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, db: TuningDB
) -> tuple[list[Schedule], list[Schedule]]:
    """The best schedule of this problem on this device model, and those of the nearest others, that are legal here."""
    found: list[tuple[float, Schedule]] = []
    for trial in db.bests(operator.name, spec.name, compiler_version()):
        with suppress(ValueError):  # made by a version whose problems or schedules had other fields
            other = operator.problem_type.from_dict(trial.problem.fields)
            schedule = operator.schedule_type.from_dict(trial.schedule)
            if not operator.violations(problem, schedule, spec):
                found.append((_distance(problem, other), schedule))
    found.sort(key=itemgetter(0))
    own = [schedule for distance, schedule in found if not distance]
    near = dict.fromkeys(schedule for distance, schedule in found if distance)
    return own, list(near)[:_WINNERS]


def stale_problems(operator: Operator[Any, Any], device: Device, db: TuningDB) -> list[Problem]:
    """The problems whose best trial on this device model is stale, and of the kind of time that the device gives."""
    problems = []
    for trial in db.bests(operator.name, device.limits.name, compiler_version()):
        if trial.time_source is not device.time_source:
            continue
        with suppress(ValueError):  # as above
            problem = operator.problem_type.from_dict(trial.problem.fields)
            if superseded(operator, problem, device, trial) or changed_environment(trial, device):
                problems.append(problem)
    return problems


def superseded(operator: Operator[Any, Any], problem: Problem, device: Device, trial: Trial) -> bool:
    """Whether a trial's schedule emits another program today, or none."""
    return bool(changed(operator, problem, device.limits, trial.schedule, trial.program_digest))


def _distance(problem: Problem, other: Problem) -> float:
    """Octaves between the sizes of two problems, plus one for each flag or enum in which they differ."""
    others = other.to_dict()
    pairs = [(value, others[name]) for name, value in problem.to_dict().items()]
    return sum(abs(log2((1 + a) / (1 + b))) if isinstance(a, int) else float(a != b) for a, b in pairs)
