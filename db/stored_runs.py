"""The runs of a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from reprlib import repr as short

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from .connection import DatabaseConnection
from .errors import one_line_errors
from .life import alive, living
from .models import RunRow, TrialRow
from .run_record import RunRecord, is_id
from .states import Outcome


class StoredRuns(DatabaseConnection):
    """Runs are stored when they begin, and once more when they end."""

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Runs, newest first, `limit` of them at most."""
        query = select(RunRow).order_by(RunRow.begun_at.desc(), RunRow.id).limit(limit)
        with self._read() as session:
            return self._plain(session, list(session.scalars(query)))

    def run(self, name: str) -> RunRecord:
        """The run of an id, or of the first digits of one.

        Raises:
            ValueError: there is no such run, or more than one.
        """
        query = select(RunRow).where(RunRow.id.startswith(name, autoescape=True)).order_by(RunRow.id)
        with self._read() as session:
            found = self._plain(session, list(session.scalars(query))) if name.isascii() else []
        if len(found) != 1 or not name:
            listed = f"begins with: {', '.join(one.id for one in found[:5])}" if name and found else "is none of them"
            raise ValueError(f"run {short(name)}: expected the id of one run, which autotune runs lists; this {listed}")
        return found[0]

    @contextmanager
    def running(self, run: RunRecord) -> Iterator[None]:
        """Store a run that begins; it is alive meanwhile, for all who look into the database."""
        with one_line_errors(self.location), alive(self._engine, self.url, run.id):
            self._write(lambda session: session.add(RunRow.of(run)))
            yield

    def end_run(self, run: str, outcome: Outcome, error: str = "") -> None:
        """Store how a run ended, and its trials by status."""

        def end(session: Session) -> None:
            values = {"outcome": outcome, "error": error, "ended_at": datetime.now(UTC)}
            counts = _counts(session, [run])[run]
            session.execute(update(RunRow).where(RunRow.id == run).values(**values, counts=counts))

        self._write(end)

    def _any_alive(self, session: Session) -> bool:
        alive = living(session, self.url)
        return any(
            alive(run) for run in session.scalars(select(RunRow.id).where(RunRow.outcome.is_(None))) if is_id(run)
        )

    def _plain(self, session: Session, rows: list[RunRow]) -> list[RunRecord]:
        rows = [row for row in rows if is_id(row.id)]
        open_runs = [row.id for row in rows if row.outcome is None]
        if not open_runs:
            return [row.plain({}, alive=False) for row in rows]
        counts, lives = _counts(session, open_runs), living(session, self.url)
        return [row.plain(counts.get(row.id, {}), alive=row.id in open_runs and lives(row.id)) for row in rows]


def _counts(session: Session, runs: list[str]) -> dict[str, dict[str, int]]:
    """The trials of each run by status."""
    columns = (TrialRow.run_id, TrialRow.status)
    query = select(*columns, func.count()).where(TrialRow.run_id.in_(runs)).group_by(*columns).order_by(*columns)
    found: dict[str, dict[str, int]] = {run: {} for run in runs}
    for run, status, count in session.execute(query):
        found[str(run)][status.value] = count
    return found
