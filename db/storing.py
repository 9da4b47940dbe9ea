"""How trials get into the tables, and which trial of a key stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from math import inf
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import bindparam, insert, select, update
from sqlalchemy.orm import Session

from .exchange import MergeCounts
from .models import KEY, Base, DeviceRow, ProblemRow, RunRow, StudyRow, outcome
from .states import Status
from .trials import DeviceRecord, ProblemRecord, Trial

# Statements of tables, made once: those of mapped classes take twice as long, and as long again to be made.
TRIALS = Base.metadata.tables["trials"]
_TRIALS = TRIALS.c
_BY_KEY = (_TRIALS[name] == bindparam(name) for name in KEY)
_STORED = select(_TRIALS.id, _TRIALS.status, _TRIALS.seconds, _TRIALS.created_at).where(*_BY_KEY)
_INSERT = insert(TRIALS)
_REPLACE = update(TRIALS).where(_TRIALS.id == bindparam("replaced"))

Row = TypeVar("Row", DeviceRow, ProblemRow, StudyRow)


class Stored(NamedTuple):
    """What the rules look at of a stored trial."""

    id: int
    status: Status
    seconds: float | None
    created_at: datetime


# Whether a trial replaces the stored one of the same key.
Rule = Callable[[Trial, Stored], bool]


def newest(_trial: Trial, _stored: Stored) -> bool:
    """The rule for trials made here: one that was lucky, or has since been found wrong, must not stay."""
    return True


def better(trial: Trial, stored: Stored) -> bool:
    """The rule for trials from elsewhere: ok beats failed, of two ok trials the faster wins, of equals the newer.

    Equal ones are the same trial, of which the newer may have a comparison as well.
    """
    cost, before = _cost(trial.status, trial.seconds), _cost(stored.status, stored.seconds)
    return cost < before or (cost == before < inf and trial.created_at > stored.created_at)


def store(trials: Iterable[Trial], session: Session, replaces: Rule) -> MergeCounts:
    """Add trials; one whose key is stored already replaces that one if `replaces` says so."""
    listed = list(trials)
    devices = {device.model: device for device in (trial.device for trial in listed)}
    device_ids = {model: device_id(device, session) for model, device in devices.items()}
    problem_ids = _problem_ids({_name(trial.problem): trial.problem for trial in listed}, session)
    run_ids = set(session.scalars(select(RunRow.id).where(RunRow.id.in_({trial.run for trial in listed}))))
    counts: Counter[str] = Counter()
    for trial in listed:
        ids: dict[str, Any] = {
            "run_id": trial.run if trial.run in run_ids else None,
            "device_id": device_ids[trial.device.model],
            "problem_id": problem_ids[_name(trial.problem)],
        }
        counts[store_one(trial, session, replaces, **ids)] += 1
    return MergeCounts(**counts)


def store_one(trial: Trial, session: Session, replaces: Rule, **columns: Any) -> str:
    """`store` a trial whose device, problem and run have ids; the name of what was done in `MergeCounts`.

    Args:
        trial: to store.
        session: to store it in.
        replaces: the rule.
        columns: the ids, and other values of its row.
    """
    values = columns | outcome(trial)
    found = session.execute(_STORED, {column: values[column] for column in KEY}).first()
    if found is None:
        session.execute(_INSERT, values)
        return "added"
    if replaces(trial, stored := Stored(*found)):
        session.execute(_REPLACE.values(values), {"replaced": stored.id})
        return "replaced"
    return "kept"


def _cost(status: Status, seconds: float | None) -> float:
    return seconds if status is Status.OK and seconds is not None else inf


def _name(problem: ProblemRecord) -> tuple[str, str]:
    return problem.operator, problem.key


def _problem_ids(problems: Mapping[tuple[str, str], ProblemRecord], session: Session) -> dict[tuple[str, str], int]:
    """The ids of problems, by two statements; new ones are added. One at a time, they took a tenth of storing."""
    of_operators = ProblemRow.operator.in_({operator for operator, _ in problems})
    stored = session.execute(select(ProblemRow.operator, ProblemRow.key, ProblemRow.id).where(of_operators))
    ids = {(operator, key): id for operator, key, id in stored}
    new = [ProblemRow.of(problem) for name, problem in problems.items() if name not in ids]
    session.add_all(new)
    session.flush()
    return ids | {(row.operator, row.key): row.id for row in new}


def device_id(device: DeviceRecord, session: Session) -> int:
    """The id of a device, which is added if it is new."""
    return row_id(DeviceRow.of(device), session, model=device.model)


def problem_id(problem: ProblemRecord, session: Session) -> int:
    """The id of a problem, which is added if it is new."""
    return row_id(ProblemRow.of(problem), session, operator=problem.operator, key=problem.key)


def row_id(new: Row, session: Session, **name: str | int) -> int:
    """The id of the row that has these values; it is added if it is new."""
    stored = session.scalar(select(type(new).id).filter_by(**name))
    if stored is None:
        session.add(new)
        session.flush()
    return new.id if stored is None else stored
