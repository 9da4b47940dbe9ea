"""The best trial of each problem: by SQL first, and among its first few the one whose program is today's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, select, tuple_
from sqlalchemy.orm import Session

from .freshness import changed_program
from .models import ProblemRow, TrialRow
from .queries import behind, firsts, ranked, shape_generic
from .trials import Trial

_LOOKED_AT = 20  # trials, for a confirmed one
_AT_ONCE = 500  # rows

T = TypeVar("T")


def best_of(
    session: Session, conditions: list[ColumnElement[bool]], compiler: str | None, run: str | None = None
) -> list[Trial]:
    """`TuningDB.best` of every problem and device among the trials that meet the conditions, and that are of a run."""
    if run is None:
        return [best for best, *_ in _chosen(session, first_ids(session, conditions, compiler), conditions, compiler)]
    found = session.scalars(
        ranked([*conditions, TrialRow.run_id == run], compiler, last=1).with_only_columns(TrialRow.id)
    )
    return [best for best, *_ in _chosen(session, [*found], [*conditions, TrialRow.run_id == run], compiler)]


def serving(session: Session, conditions: list[ColumnElement[bool]], compiler: str | None) -> list[Trial]:
    """`TuningDB.serving` among the trials that meet the conditions."""
    ids = first_ids(session, conditions, compiler)
    found = [trial for trials in _chosen(session, ids, conditions, compiler) for trial in trials]
    served = {_problem_of(trial) for trial in found if trial.schedule.get("specialize") != "shape"}
    generic = [*conditions, shape_generic()]
    known = {*ids}
    others = [one for one in first_ids(session, generic, compiler) if one not in known]
    more = (trial for trials in _chosen(session, others, generic, compiler) for trial in trials)
    return [*found, *(trial for trial in more if _problem_of(trial) not in served)]


def leading(session: Session, conditions: list[ColumnElement[bool]], compiler: str | None) -> list[Trial]:
    """`TuningDB.leading` among the trials that meet the conditions."""
    return [row.plain for row in _rows(session, first_ids(session, conditions, compiler))]


def winners(
    session: Session, conditions: list[ColumnElement[bool]], compiler: str | None
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """`TuningDB.winners` among the trials that meet the conditions."""
    columns = select(ProblemRow.fields, TrialRow.schedule).join(ProblemRow, ProblemRow.id == TrialRow.problem_id)
    chunks = _chunks(first_ids(session, conditions, compiler))
    return [(of, schedule) for ids in chunks for of, schedule in session.execute(columns.where(TrialRow.id.in_(ids)))]


def _chosen(
    session: Session, ids: list[int], conditions: list[ColumnElement[bool]], compiler: str | None
) -> Iterator[tuple[Trial, ...]]:
    """Of each problem and device the best trial, and the unconfirmed one that ranks before it, if there is one.

    Args:
        session, conditions, compiler: as in `serving`.
        ids: the trials that `ranked` puts first.
    """
    for row in _rows(session, ids):
        first = row.plain
        confirmed = _confirmed(session, row, conditions, compiler) if changed_program(first) else None
        yield (confirmed, first) if confirmed else (first,)


def first_ids(session: Session, conditions: list[ColumnElement[bool]], compiler: str | None) -> list[int]:
    """The ids of the trials that `ranked` puts first, by device and problem."""
    if compiler is None:
        return [*session.scalars(ranked(conditions, last=1).with_only_columns(TrialRow.id))]
    found = {(device, problem): first for device, problem, first in session.execute(firsts(conditions, compiler))}
    for pairs in _chunks([pair for pair, first in found.items() if first is None]):
        rest = ranked([*conditions, tuple_(TrialRow.device_id, TrialRow.problem_id).in_(pairs)], compiler, last=1)
        for device, problem, first in session.execute(
            rest.with_only_columns(TrialRow.device_id, TrialRow.problem_id, TrialRow.id)
        ):
            found[device, problem] = first
    return [first for first in found.values() if first is not None]


def _rows(session: Session, ids: list[int]) -> Iterator[TrialRow]:
    for some in _chunks(ids):
        rows = {row.id: row for row in session.scalars(select(TrialRow).where(TrialRow.id.in_(some)))}
        yield from (rows[one] for one in some)


def _confirmed(
    session: Session, row: TrialRow, conditions: list[ColumnElement[bool]], compiler: str | None
) -> Trial | None:
    """The first trial whose program is today's among the next of a problem and device."""
    _, *others = session.scalars(ranked([*conditions, *behind(row)], compiler, last=_LOOKED_AT))
    return next((trial for trial in (other.plain for other in others) if not changed_program(trial)), None)


def _problem_of(trial: Trial) -> tuple[str, str, str]:
    return trial.device.model, trial.problem.operator, trial.problem.key


def _chunks(listed: list[T]) -> Iterator[list[T]]:
    """As many at a time as a statement may have parameters for."""
    return (listed[first : first + _AT_ONCE] for first in range(0, len(listed), _AT_ONCE))
