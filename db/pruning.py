"""Trials that can never serve again: whose schedule emits another program today, and that stand for nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import delete, exists, select
from sqlalchemy.orm import Session

from autotune.search_spaces.contract.registry import OPERATORS

from .best import serving
from .freshness import OTHER_PROGRAM, changed_program
from .models import ClaimRow, DeviceRow, ProblemRow, StudyRow, TrialRow
from .states import Status, TimeSource
from .trials import Trial

_AT_ONCE = 500  # rows
_LONG_OVER = timedelta(days=1)
NO_PROGRAM = "emits no program today"


class Prunable(NamedTuple):
    """A trial that can go.

    Attributes:
        operator, problem, device: what it is of: the problem's key, the device model.
        status: how it ended.
        reason: `OTHER_PROGRAM` or `NO_PROGRAM`.
    """

    operator: str
    problem: str
    device: str
    status: Status
    reason: str


class Stale(NamedTuple):
    """When a stale trial was made, by which it is known again, and why it is stale."""

    created_at: datetime
    reason: str


_Precedence = tuple[bool, datetime, int]


class _Row(NamedTuple):
    """What tells a trial from others, and what decides whether others need it."""

    id: int
    device: str
    operator: str
    problem: str
    schedule_digest: str
    time_source: TimeSource
    program_digest: str
    compiler: str
    status: Status
    lost_to: str
    created_at: datetime
    problem_id: int

    @property
    def key(self) -> tuple[str, ...]:
        return self[1:8]

    @property
    def schedule(self) -> tuple[str, ...]:
        return self[1:5]

    @property
    def precedence(self) -> _Precedence:
        """The largest of a schedule is the verdict on it."""
        return self.time_source is TimeSource.MEASURED, self.created_at, self.id


def stale_trials(session: Session) -> dict[int, Stale]:
    """The trials by id whose schedules emit another program today, or none; each takes a millisecond or two.

    Those of operators that are not here stay: a package or a file of their user has them.
    """
    found = {}
    here = select(ProblemRow.id).where(ProblemRow.operator.in_(OPERATORS))
    asked = select(TrialRow).where(TrialRow.problem_id.in_(here)).execution_options(yield_per=_AT_ONCE)
    for row in session.scalars(asked):
        if reason := changed_program(row.plain):
            found[row.id] = Stale(row.created_at, OTHER_PROGRAM if reason == OTHER_PROGRAM else NO_PROGRAM)
    return found


def prune(session: Session, stale: dict[int, Stale], compiler: str | None, *, remove: bool) -> list[Prunable]:
    """Remove, or only list, the stale trials that nothing needs.

    These stay: the best trials of every compiler, and those that keep another one from being best: a newer verdict on
    the same schedule, and the winner that another one lost to.
    """
    rows = list(_rows(session))
    going = {row.id for row in rows if row.id in stale and stale[row.id].created_at == row.created_at}
    problems = select(TrialRow.problem_id).where(TrialRow.id.in_(going))
    compilers = {None, compiler, *(row.compiler for row in rows)} if going else {}
    best = {_key(trial) for one in compilers for trial in serving(session, [TrialRow.problem_id.in_(problems)], one)}
    going -= {row.id for row in rows if row.key in best}
    while needed := {row.id for row in _needed(rows, going)}:
        going -= needed
    if remove:
        ids = sorted(going)
        for first in range(0, len(ids), _AT_ONCE):
            session.execute(delete(TrialRow).where(TrialRow.id.in_(ids[first : first + _AT_ONCE])))
    return [
        Prunable(row.operator, row.problem, row.device, row.status, stale[row.id].reason)
        for row in rows
        if row.id in going
    ]


def remove_unused(session: Session) -> None:
    """Remove the claims of tuners that are long over, then the studies and the problems that have nothing."""
    session.execute(delete(ClaimRow).where(ClaimRow.until < datetime.now(UTC) - _LONG_OVER))
    for row, columns in (
        (StudyRow, (TrialRow.study_id, ClaimRow.study_id)),
        (ProblemRow, (TrialRow.problem_id, StudyRow.problem_id)),
    ):
        session.execute(delete(row).where(*(~exists().where(column == row.id) for column in columns)))


def _rows(session: Session) -> Iterator[_Row]:
    columns = [getattr(TrialRow, name) for name in _Row._fields[4:]]
    query = select(TrialRow.id, DeviceRow.model, ProblemRow.operator, ProblemRow.key, *columns)
    joined = query.join(DeviceRow, DeviceRow.id == TrialRow.device_id).join(
        ProblemRow, ProblemRow.id == TrialRow.problem_id
    )
    return (_Row(*row) for row in session.execute(joined.order_by(TrialRow.id)))


def _key(trial: Trial) -> tuple[str, ...]:
    names = (trial.device.model, trial.problem.operator, trial.problem.key)
    return *names, trial.schedule_digest, trial.time_source, trial.program_digest, trial.compiler


def _needed(rows: Iterable[_Row], going: set[int]) -> Iterator[_Row]:
    """Those of the trials to go that keep one from being best which stays."""
    staying = [row for row in rows if row.id not in going]
    last_verdict: dict[tuple[str, ...], _Precedence] = {}
    for row in staying:
        last_verdict[row.schedule] = min(row.precedence, last_verdict.get(row.schedule, row.precedence))
    winners = {(row.device, row.operator, row.problem, row.lost_to, row.time_source, row.compiler) for row in staying}
    for row in rows:
        if row.id in going:
            hides = row.precedence > last_verdict.get(row.schedule, row.precedence)
            if hides or (row.status is Status.OK and (*row.schedule, row.time_source, row.compiler) in winners):
                yield row
