"""What the questions to the database are in SQL."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, case, func, select

from .models import DeviceRow, ProblemRow, TrialRow
from .states import Status, TimeSource


def matching(
    operator: str | None = None, key: str | None = None, device: str | None = None
) -> list[ColumnElement[bool]]:
    """Conditions on trials."""
    wanted = {ProblemRow.operator: operator, ProblemRow.key: key}
    problem = [column == value for column, value in wanted.items() if value is not None]
    conditions: list[ColumnElement[bool]] = []
    if problem:
        conditions.append(TrialRow.problem_id.in_(select(ProblemRow.id).where(*problem)))
    if device is not None:
        conditions.append(TrialRow.device_id.in_(select(DeviceRow.id).where(DeviceRow.model == device)))
    return conditions


def best_of(conditions: list[ColumnElement[bool]], generator: str | None) -> Select[TrialRow]:
    """The best trial of every problem and device among the trials that meet `conditions`; see `TuningDB.best`."""
    modelled = case((TrialRow.time_source == TimeSource.MODELLED, 1), else_=0)
    foreign = case((TrialRow.generator == generator, 0), else_=1)
    place = (TrialRow.device_id, TrialRow.problem_id)
    newest = (modelled, foreign, TrialRow.created_at.desc(), TrialRow.id.desc())
    verdict = func.row_number().over(partition_by=(*place, TrialRow.schedule_digest), order_by=newest)
    verdicts = select(TrialRow.id, verdict.label("position")).where(*conditions).subquery()

    fastest = (modelled, foreign, TrialRow.seconds, TrialRow.id)
    ranked = (
        select(TrialRow.id, func.row_number().over(partition_by=place, order_by=fastest).label("position"))
        .join(verdicts, TrialRow.id == verdicts.c.id)
        .where(verdicts.c.position == 1, TrialRow.status == Status.OK)
        .subquery()
    )
    return select(TrialRow).join(ranked, TrialRow.id == ranked.c.id).where(ranked.c.position == 1).order_by(*place)
