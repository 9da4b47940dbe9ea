"""Optuna's tables in a PostgreSQL database, which runs on any number of hosts share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Event, Thread
from typing import Self

from optuna import Study
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage, fail_stale_trials
from optuna.trial import FrozenTrial, TrialState
from sqlalchemy import create_engine, inspect, text

from .database import TuningDB
from .engine import of_schema
from .errors import DatabaseError, one_line_errors

_SCHEMA = "studies"  # Optuna has a table named trials, too
_BEAT, _SILENCE = 10, 60  # seconds between signs of life, and without one until a run counts as dead


class StudyTables(RDBStorage):
    """Tables as the storage of a run; a context manager that gives signs of life for all that the run has taken.

    Args:
        db: the database that has Optuna's tables, too, in the schema ``studies``; they are made if missing.

    Raises:
        DatabaseError: as in every method, one line.
    """

    look_for_dead = _BEAT

    def __init__(self, db: TuningDB) -> None:
        self._db = db
        with self.errors():
            self._make_tables()
            try:
                self._open()
            except RuntimeError as error:  # another version's tables, and what to do
                raise DatabaseError(f"{db.location}: {error}") from None
        self._alive: set[int] = set()
        self._ending = Event()
        self._life = Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        self._life.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ending.set()
        self._life.join()
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.remove_session()
        self.engine.dispose()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what Optuna says of the database into `DatabaseError`."""
        with one_line_errors(self._db.location):
            try:
                yield
            except StorageInternalError as error:
                raise error.__cause__ or error from None

    def exclusive(self, study_id: int) -> AbstractContextManager[None]:
        """Let all other runs of a study wait meanwhile."""
        return self._db.locked(study_id)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Store what this thread sets meanwhile in one transaction."""
        self.scoped_session.remove()
        with self.engine.begin() as connection:
            # Optuna commits each time that it sets something: its session ends a savepoint by that.
            self.scoped_session(bind=connection, join_transaction_mode="create_savepoint")
            try:
                yield
            finally:
                self.scoped_session.remove()

    def news(self, study_id: int, unfinished: Collection[int], newest: int) -> list[FrozenTrial]:
        """The trials of these numbers and those after the newest, in order."""
        # Past Optuna's own cache, which keeps all trials and goes through them each time.
        return self._get_trials(study_id, None, set(unfinished), newest)

    def fail_dead(self, study: Study, on_dead: Callable[[Study, FrozenTrial], None]) -> None:
        """Give up the trials of runs that are over."""
        self.heartbeat_stale_trial_callback = on_dead
        fail_stale_trials(study)

    def set_trial_state_values(self, trial_id: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
        """Of a trial that runs from now on, a sign of life comes first: none is without one."""
        if state is TrialState.RUNNING:
            self.record_heartbeat(trial_id)
        done = super().set_trial_state_values(trial_id, state, values)
        (self._alive.add if done and state is TrialState.RUNNING else self._alive.discard)(trial_id)
        return done

    def _beat(self) -> None:
        while not self._ending.wait(_BEAT):
            with suppress(DatabaseError), self.errors():  # a server that is back in time has lost nothing
                for trial in list(self._alive):
                    self.record_heartbeat(trial)
        self.remove_session()

    def _make_tables(self) -> None:
        """Make Optuna's tables; one process at a time does, for Optuna does not lock."""
        engine = create_engine(of_schema(self._db.url, _SCHEMA))

        def made() -> bool:
            return inspect(engine).has_table("alembic_version", _SCHEMA)  # the last that Optuna makes

        if not made():
            with self._db.locked():
                if not made():
                    with engine.begin() as connection:
                        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}"))
                    self._open()
                    self.engine.dispose()
        engine.dispose()

    def _open(self) -> None:
        url = of_schema(self._db.url, _SCHEMA).render_as_string(hide_password=False)
        super().__init__(
            url.replace("{", "{{").replace("}", "}}"),
            {"pool_pre_ping": True},
            heartbeat_interval=_BEAT,
            grace_period=_SILENCE,
        )
