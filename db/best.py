"""The best trial of each problem: by SQL first, and among its first few the one whose program is today's."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from .freshness import changed_program
from .models import TrialRow
from .queries import behind, ranked, shape_generic
from .trials import Trial

_LOOKED_AT = 20  # trials, for a confirmed one


def best_of(session: Session, conditions: list[ColumnElement[bool]], compiler: str | None) -> list[Trial]:
    """`TuningDB.best` of every problem and device among the trials that meet the conditions."""
    return [best for best, *_ in _bests(session, conditions, compiler)]


def serving(session: Session, conditions: list[ColumnElement[bool]], compiler: str | None) -> list[Trial]:
    """`TuningDB.serving` among the trials that meet the conditions."""
    found = [trial for trials in _bests(session, conditions, compiler) for trial in trials]
    served = {_problem_of(trial) for trial in found if trial.schedule.get("specialize") != "shape"}
    generic = _bests(session, [*conditions, shape_generic()], compiler)
    return [*found, *(trial for trials in generic for trial in trials if _problem_of(trial) not in served)]


def _bests(
    session: Session, conditions: list[ColumnElement[bool]], compiler: str | None
) -> Iterator[tuple[Trial, ...]]:
    """Of each problem and device the best trial, and the unconfirmed one that ranks before it, if there is one."""
    for row in session.scalars(ranked(conditions, compiler, last=1)).all():
        first = row.plain
        confirmed = _confirmed(session, row, conditions, compiler) if changed_program(first) else None
        yield (confirmed, first) if confirmed else (first,)


def _confirmed(
    session: Session, row: TrialRow, conditions: list[ColumnElement[bool]], compiler: str | None
) -> Trial | None:
    """The first trial whose program is today's among the next of a problem and device."""
    _, *others = session.scalars(ranked([*conditions, *behind(row)], compiler, last=_LOOKED_AT))
    return next((trial for trial in (other.plain for other in others) if not changed_program(trial)), None)


def _problem_of(trial: Trial) -> tuple[str, str, str]:
    return trial.device.model, trial.problem.operator, trial.problem.key
