"""What earlier runs found out: trials to go on from, and winners to try first."""

from __future__ import annotations

from collections.abc import Container
from contextlib import suppress
from math import log2
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ..codegen.problem import Problem
from ..codegen.program import generator_digest
from ..codegen.schedule import Schedule
from ..db.records import Trial
from ..db.states import TimeSource
from ..devices.base import Device
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator
from .provenance import stale
from .study import Outcome

if TYPE_CHECKING:
    from ..db import TuningDB

_WINNERS = 5
_LOOKED_AT = 100  # of the best trials, which need the samples, too


def known_trials(
    operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB
) -> dict[Schedule, Outcome]:
    """What need not be tried again, oldest first: same device model and kind of time, legal and not stale."""
    known: dict[Schedule, Outcome] = {}
    for trial in db.tried(*_place(operator, problem, device)):
        if not stale(trial, device):
            with suppress(ValueError):  # an import may hold what this generator never made
                schedule = operator.schedule_type.from_dict(trial.schedule)
                if not operator.violations(problem, schedule, device.limits):
                    known[schedule] = Outcome.of(trial)
    return known


def ranked(operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB) -> list[Trial]:
    """The trials that the database puts first, best first."""
    return db.ranked(*_place(operator, problem, device), _LOOKED_AT)


def best_known(
    operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB, known: Container[str]
) -> Trial | None:
    """The trial that the database puts first among those of known schedules, by digest; None if none of them is ok."""
    return next((one for one in ranked(operator, problem, device, db) if one.schedule_digest in known), None)


def _place(operator: Operator[Any, Any], problem: Problem, device: Device) -> tuple[str, str, str, str, TimeSource]:
    return operator.name, problem.key, device.limits.name, generator_digest(), device.time_source


def winners(operator: Operator[Any, Any], problem: Problem, limits: DeviceSpec, db: TuningDB) -> list[Schedule]:
    """The best schedules of the nearest problems on this device model that are legal here, the problem's own first."""
    found: list[tuple[float, Schedule]] = []
    for trial in db.bests(operator.name, limits.name, generator_digest()):
        with suppress(ValueError):  # made by a version whose problems or schedules had other fields
            other = operator.problem_type.from_dict(trial.problem.fields)
            found.append((_distance(problem, other), operator.schedule_type.from_dict(trial.schedule)))
    found.sort(key=itemgetter(0))
    legal = [schedule for _, schedule in found if not operator.violations(problem, schedule, limits)]
    return list(dict.fromkeys(legal))[:_WINNERS]


def stale_problems(operator: Operator[Any, Any], device: Device, db: TuningDB) -> list[Problem]:
    """The problems whose best trial on this device model is stale, and of the kind of time that the device gives."""
    problems = []
    for trial in db.bests(operator.name, device.limits.name, generator_digest()):
        if trial.time_source is device.time_source and stale(trial, device):
            with suppress(ValueError):  # as above
                problems.append(operator.problem_type.from_dict(trial.problem.fields))
    return problems


def _distance(problem: Problem, other: Problem) -> float:
    """Octaves between the sizes of two problems, and one for each flag or word in which they differ."""
    others = other.to_dict()
    pairs = [(value, others[name]) for name, value in problem.to_dict().items()]
    return sum(abs(log2((1 + a) / (1 + b))) if isinstance(a, int) else float(a != b) for a, b in pairs)
