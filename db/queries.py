"""Queries of the database as SQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, select, true, tuple_
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


def firsts(conditions: list[ColumnElement[bool]], compiler: str) -> Select[int, int, int | None]:
    """Each device and problem that has trials which meet `conditions`, with the id of what `ranked` puts first.

    It is None where that is no measured trial of the compiler. Others are found by the index of the fastest: of a
    million trials, a few of each problem are looked at.

    Args:
        conditions: as of `ranked`, which all trials of a schedule meet or none.
        compiler: as of `ranked`.
    """
    of_pair = (TrialRow.device_id == DeviceRow.id, TrialRow.problem_id == ProblemRow.id)
    own = {TrialRow.compiler: compiler, TrialRow.time_source: TimeSource.MEASURED, TrialRow.status: Status.OK}
    newer = aliased(TrialRow)
    same = ("device_id", "problem_id", "schedule_digest", "time_source", "compiler")
    superseded = exists().where(
        *(getattr(newer, name) == getattr(TrialRow, name) for name in same),
        tuple_(newer.created_at, newer.id) > tuple_(TrialRow.created_at, TrialRow.id),
    )
    fastest = (
        select(TrialRow.id)
        .where(*of_pair, *(column == value for column, value in own.items()), *conditions, ~superseded, ~_lost())
        .order_by(TrialRow.seconds, TrialRow.id)
        .limit(1)
    )
    any_trial = exists().where(*of_pair, *conditions).correlate(DeviceRow, ProblemRow)
    columns = (DeviceRow.id, ProblemRow.id, fastest.correlate(DeviceRow, ProblemRow).scalar_subquery())
    found = select(*columns).join_from(DeviceRow, ProblemRow, true()).where(any_trial)
    return found.order_by(DeviceRow.id, ProblemRow.id)


def behind(row: TrialRow) -> list[ColumnElement[bool]]:
    """Conditions on trials: they are of the same problem, device and time source as another one."""
    same = ("device_id", "problem_id", "time_source")
    return [getattr(TrialRow, name) == getattr(row, name) for name in same]


def _lost() -> ColumnElement[bool]:
    """Whether another schedule was preferred to a trial's, and is still ok with the same compiler."""
    winner = aliased(TrialRow)
    same = ("device_id", "problem_id", "time_source", "compiler")
    won = exists().where(
        *(getattr(winner, name) == getattr(TrialRow, name) for name in same),
        winner.schedule_digest == TrialRow.lost_to,
        winner.status == Status.OK,
    )
    return and_(TrialRow.lost_to != "", won)
