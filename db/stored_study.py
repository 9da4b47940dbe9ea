"""A study: what tuners of one problem on one device model share, so that each schedule is tried by one of them only.

What was tried is a trial, what is being tried a claim. A claim ends with its trial, in one transaction. It is free for
other tuners if its run is over, if it was given back, or if its tuner has neither claimed nor ended any for a lease.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

from sqlalchemy import bindparam, delete, exists, func, insert, select, text, update
from sqlalchemy.orm import Session

from autotune.codegen.model.schedule import Schedule

from .connection import DatabaseConnection
from .life import living
from .models import Base, ClaimRow, StudyRow
from .states import Objective, Status
from .storing import TRIALS, device_id, newest, problem_id, row_id, store_one
from .trials import DeviceRecord, ProblemRecord, Trial

LEASE = timedelta(minutes=10)  # a compiler has two minutes, a session two more to be set up, a kernel its time limit
_LOOK = 1.0  # seconds between looks for claims of runs that are over
_MOST_TRIES = 4  # a schedule whose tuners die again and again may be what kills them

Fields = Mapping[str, Any]

# What a tuner asks once or twice for a trial, of tables and made once, which takes a quarter of the time.
_TABLE = Base.metadata.tables["claims"]
_CLAIMS, _TRIALS = _TABLE.c, TRIALS.c
_CLAIM_OF = _CLAIMS.study_id == bindparam("study"), _CLAIMS.schedule_digest == bindparam("digest")
_COLUMNS = (_CLAIMS.id, _CLAIMS.tuner, _CLAIMS.run_id, _CLAIMS.until, _CLAIMS.tries, _CLAIMS.schedule)
_CLAIMED, _OVER = select(*_COLUMNS).where(*_CLAIM_OF), delete(_TABLE).where(*_CLAIM_OF)
_CLAIM = insert(_TABLE)
_OTHERS = (
    select(*_COLUMNS)
    .where(_CLAIMS.study_id == bindparam("study"), _CLAIMS.tuner != bindparam("tuner"), _CLAIMS.id > bindparam("after"))
    .order_by(_CLAIMS.id)  # what was claimed first promised most
)
_LATER = _TRIALS.study_id == bindparam("study"), _TRIALS.number > bindparam("after")
_UNHEARD = select(exists().where(*_LATER, _TRIALS.schedule_digest == bindparam("digest")))
_COSTS = {Objective.TIME: _TRIALS.seconds, Objective.ENERGY: _TRIALS.conditions["joules"].as_float()}
_ENDED = {
    objective: select(_TRIALS.number, _TRIALS.schedule, _TRIALS.status, cost.label("cost"))
    .where(*_LATER, _TRIALS.number <= bindparam("last"))
    .order_by(_TRIALS.number)
    for objective, cost in _COSTS.items()
}
_LAST = select(func.max(_TRIALS.number)).where(_TRIALS.study_id == bindparam("study"))
_MOST = 2**31 - 1  # more trials than a study's column can number


class News(NamedTuple):
    """What others began and all ended since one last asked, by the fields of schedules.

    Attributes:
        claimed: what others try.
        free: what is left of tuners that are over.
        ended: what was tried, with its cost; None for a failure.
    """

    claimed: list[Fields]
    free: list[Fields]
    ended: list[tuple[Fields, float | None]]


class StoredStudy:
    """One tuner's part in a study; `TuningDB.study` opens it.

    Args:
        db: the database.
        name: tells studies of a problem and a device apart.
        device, problem: what the study is of.
        run: the id of the run that the tuner works for.
        objective: what is minimised.
    """

    def __init__(
        self,
        db: DatabaseConnection,
        name: str,
        device: DeviceRecord,
        problem: ProblemRecord,
        run: str,
        objective: Objective = Objective.TIME,
    ) -> None:
        self._db, self._run = db, run
        self._ended = _ENDED[objective]
        self._tuner = uuid4().hex[:12]
        self._over: set[str] = set()  # runs
        self._newest_claim = 0
        self._look_at = 0.0
        self._renew_at = monotonic() + LEASE.total_seconds() / 4

        def opened(session: Session) -> tuple[int, dict[str, int], int, timedelta]:
            of = {"problem_id": problem_id(problem, session), "device_id": device_id(device, session)}
            study = row_id(StudyRow(**of, name=name), session, **of, name=name)
            return study, of, _next(session, study) - 1, _clock(session) - datetime.now(UTC)

        # What is over by now is no news: whether it still counts, the database's trials tell.
        self._id, self._of, self._seen, self._ahead = db._write(opened)

    def news(self, last: int | None = None) -> News:
        """What has happened since one last asked; of what ended, up to the number `last` that `end` gave."""
        if look := monotonic() >= self._look_at:
            self._look_at = monotonic() + _LOOK
        others = {"study": self._id, "tuner": self._tuner, "after": 0 if look else self._newest_claim}
        ended = {"study": self._id, "after": self._seen, "last": _MOST if last is None else last}
        with self._db._read() as session:
            claimed = session.execute(_OTHERS, others).all()
            if look:
                alive = living(session, self._db.url)
                self._over = {run for run in {claim.run_id for claim in claimed} if not alive(run)}
            over = session.execute(self._ended, ended).all()
        self._newest_claim = max([self._newest_claim, *(claim.id for claim in claimed)])
        self._seen = max([self._seen, *(trial.number for trial in over)])
        return News(
            [claim.schedule for claim in claimed if not self._is_free(claim)],
            [claim.schedule for claim in claimed if self._is_free(claim)],
            [(trial.schedule, trial.cost if trial.status is Status.OK else None) for trial in over],
        )

    def claim(self, schedule: Schedule) -> bool:
        """Whether a schedule is this tuner's to try: nobody has it, and nobody has ended it since the last `news`."""
        return self._db._write(partial(self._claim, schedule), self._of["problem_id"])

    def end(self, trial: Trial) -> int:
        """Store what became of a claim, which ends, and give the number that it has in the study."""

        def stored(session: Session) -> int:
            self._renew(session)
            session.execute(_OVER, {"study": self._id, "digest": trial.schedule_digest})
            number = _next(session, self._id)
            store_one(trial, session, newest, **self._of, run_id=trial.run, study_id=self._id, number=number)
            return number

        return self._db._write(stored, self._of["problem_id"])

    def give_back(self) -> None:
        """Let others have what was claimed and not ended."""
        free = {"until": self._now(), "tries": ClaimRow.tries - 1}
        self._db._write(lambda session: session.execute(self._mine().values(free)), self._of["problem_id"])

    def _claim(self, schedule: Schedule, session: Session) -> bool:
        self._renew(session)
        taken = {"run_id": self._run, "tuner": self._tuner, "until": self._now() + LEASE}
        named = {"study": self._id, "digest": schedule.digest}
        claim = session.execute(_CLAIMED, named).first()
        if claim is None:
            if session.scalar(_UNHEARD, named | {"after": self._seen}):
                return False
            new = {"study_id": self._id, "schedule": schedule.to_dict(), "schedule_digest": schedule.digest, "tries": 1}
            session.execute(_CLAIM, new | taken)
        elif claim.tuner != self._tuner:
            if not self._is_free(claim):
                self._look_at = 0.0
                return False
            again = update(ClaimRow).where(ClaimRow.id == claim.id)
            session.execute(again.values(taken | {"tries": claim.tries + 1}))
        return True

    def _renew(self, session: Session) -> None:
        """Whoever makes progress keeps its claims."""
        if monotonic() >= self._renew_at:
            self._renew_at = monotonic() + LEASE.total_seconds() / 4
            session.execute(self._mine().values(until=self._now() + LEASE))

    def _is_free(self, claim: Any) -> bool:
        return claim.tries < _MOST_TRIES and (claim.until <= self._now() or claim.run_id in self._over)

    def _mine(self) -> Any:
        return update(ClaimRow).where(ClaimRow.study_id == self._id, ClaimRow.tuner == self._tuner)

    def _now(self) -> datetime:
        return datetime.now(UTC) + self._ahead


def _next(session: Session, study: int) -> int:
    """The number of a study's next trial."""
    last = session.scalar(_LAST, {"study": study})
    return 0 if last is None else last + 1


def _clock(session: Session) -> datetime:
    """The time of the server, which hosts agree on; that of this host for a file, which is here."""
    if session.get_bind().dialect.name == "sqlite":
        return datetime.now(UTC)
    now: datetime = session.scalars(text("SELECT clock_timestamp()")).one()
    return now.astimezone(UTC)
