"""Queries of the database as SQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, case, exists, func, select
from sqlalchemy.orm import aliased

from .models import DeviceRow, ProblemRow, TrialRow
from .states import Status, TimeSource


def matching(
    operator: str | None = None,
    key: str | None = None,
    device: str | None = None,
    time_source: TimeSource | None = None,
    run: str | None = None,
) -> list[ColumnElement[bool]]:
    """Conditions on trials."""
    wanted = {ProblemRow.operator: operator, ProblemRow.key: key}
    problem = [column == value for column, value in wanted.items() if value is not None]
    conditions: list[ColumnElement[bool]] = []
    if problem:
        conditions.append(TrialRow.problem_id.in_(select(ProblemRow.id).where(*problem)))
    if device is not None:
        conditions.append(TrialRow.device_id.in_(select(DeviceRow.id).where(DeviceRow.model == device)))
    if time_source is not None:
        conditions.append(TrialRow.time_source == time_source)
    if run is not None:
        conditions.append(TrialRow.run_id == run)
    return conditions


def shape_generic() -> ColumnElement[bool]:
    """A condition on trials: their kernels are not shape-specialised."""
    return func.coalesce(TrialRow.schedule["specialize"].as_string(), "") != "shape"


def ranked(
    conditions: list[ColumnElement[bool]], compiler: str | None = None, last: int | None = None
) -> Select[TrialRow]:
    """The ok verdicts of every problem and device among the trials that meet `conditions`; see `TuningDB.best`.

    Args:
        conditions: as `matching` makes them.
        compiler: whose trials come before all others.
        last: so many of each problem and device at most, best first.
    """
    modelled = case((TrialRow.time_source == TimeSource.MODELLED, 1), else_=0)
    foreign = case((TrialRow.compiler == compiler, 0), else_=1)
    problem = (TrialRow.device_id, TrialRow.problem_id)
    newest = (modelled, foreign, TrialRow.created_at.desc(), TrialRow.id.desc())
    verdict = func.row_number().over(partition_by=(*problem, TrialRow.schedule_digest), order_by=newest)
    verdicts = select(TrialRow.id, verdict.label("position")).where(*conditions).subquery()

    fastest = (modelled, foreign, case((_lost(), 1), else_=0), TrialRow.seconds, TrialRow.id)
    positions = (
        select(TrialRow.id, func.row_number().over(partition_by=problem, order_by=fastest).label("position"))
        .join(verdicts, TrialRow.id == verdicts.c.id)
        .where(verdicts.c.position == 1, TrialRow.status == Status.OK)
        .subquery()
    )
    found = select(TrialRow).join(positions, TrialRow.id == positions.c.id).order_by(*problem, positions.c.position)
    return found if last is None else found.where(positions.c.position <= last)


def behind(row: TrialRow) -> list[ColumnElement[bool]]:
    """Conditions on trials: they are of the same problem, device and time source as another one."""
    same = ("device_id", "problem_id", "time_source")
    return [getattr(TrialRow, name) == getattr(row, name) for name in same]


def _lost() -> ColumnElement[bool]:
    """Whether another schedule was preferred to a trial's, and is still ok with the same compiler."""
    winner = aliased(TrialRow)
    same = ("device_id", "problem_id", "time_source", "compiler")
    return exists().where(
        *(getattr(winner, name) == getattr(TrialRow, name) for name in same),
        winner.schedule_digest == TrialRow.lost_to,
        winner.status == Status.OK,
    )
