"""The best trial of each problem: by SQL first, and among its first few the one whose program is fresh."""

from __future__ import annotations

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from .freshness import changed_program
from .models import TrialRow
from .queries import behind, ranked, shape_generic
from .trials import Trial

_LOOKED_AT = 20  # trials, for a fresh one


def best_of(session: Session, conditions: list[ColumnElement[bool]], compiler: str | None) -> list[Trial]:
    """`TuningDB.best` of every problem and device among the trials that meet the conditions."""
    rows = session.scalars(ranked(conditions, compiler, last=1)).all()
    return [_fresh(session, row, conditions, compiler) for row in rows]


def serving(session: Session, conditions: list[ColumnElement[bool]], compiler: str | None) -> list[Trial]:
    """`best_of`, and where that is specialised for its shape the best shape-generic trial, too."""
    found = best_of(session, conditions, compiler)
    specialised = {_problem_of(trial) for trial in found if trial.schedule.get("specialize") == "shape"}
    generic = [*conditions, shape_generic()]
    rows = session.scalars(ranked(generic, compiler, last=1)).all()
    return [
        *found,
        *(_fresh(session, row, generic, compiler) for row in rows if _problem_of(row.plain) in specialised),
    ]


def _fresh(session: Session, row: TrialRow, conditions: list[ColumnElement[bool]], compiler: str | None) -> Trial:
    """The first fresh trial from the first one of a problem and device on, or that one if there is none."""
    first = row.plain
    if not changed_program(first):
        return first
    _, *others = session.scalars(ranked([*conditions, *behind(row)], compiler, last=_LOOKED_AT))
    return next((trial for trial in (other.plain for other in others) if not changed_program(trial)), first)


def _problem_of(trial: Trial) -> tuple[str, str, str]:
    return trial.device.model, trial.problem.operator, trial.problem.key
