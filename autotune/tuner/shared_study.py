"""A study in Optuna's RDB storage: the queue of schedules that tuners on any number of hosts share.

A trial of the study is one schedule. It waits, is taken by a tuner, which gives signs of life meanwhile, and is told.
One whose tuner falls silent is given up and waits again, as a new trial.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import Any, Self

from optuna import create_study
from optuna.exceptions import ExperimentalWarning, StorageInternalError, UpdateFinishedTrialError
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback, fail_stale_trials
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import URL, create_engine, inspect, text

from ..db import TuningDB
from ..db.engine import of_schema
from ..db.errors import DatabaseError, one_line_errors
from ..db.states import Status
from .study import Outcome

_SCHEMA = "studies"  # Optuna has a table named trials, too
_BEAT, _SILENCE = 10, 60  # seconds between signs of life, and without one until a tuner counts as dead
_RETRIES = 3  # a schedule whose tuners die again and again may be what kills them


class SharedStudy:
    """One study; a context manager that gives signs of life for all that was taken, and at its end gives it back.

    Args:
        db: the database that has Optuna's tables, too, in the schema ``studies``; they are made if missing.
        name: of the study, which is made if missing.

    Raises:
        DatabaseError: as in every method, one line; `BadUrlError` if the database is not PostgreSQL.
    """

    def __init__(self, db: TuningDB, name: str) -> None:
        self._location = db.location
        with self._errors():
            self._storage = _storage(db)
            self._study = create_study(storage=self._storage, study_name=name, load_if_exists=True)
            self._id = self._storage.get_study_id_from_name(name)
        self._taken: set[int] = set()
        self._open: set[int] = set()  # trials that were not over when last asked, and the newest one that was
        self._newest_over = -1
        self._look_for_dead = 0.0
        self._ending = Event()
        self._life = Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        self._life.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._ending.set()
        self._life.join()
        with suppress(DatabaseError), self._errors():  # who cannot give a trial back falls silent
            for trial in self._taken:
                self._set_state(trial, TrialState.WAITING)
        self._storage.remove_session()
        self._storage.engine.dispose()

    def news(self) -> list[FrozenTrial]:
        """The trials that were not over when last asked, in their order; those of dead tuners wait again."""
        with self._errors():
            if (now := monotonic()) >= self._look_for_dead:
                self._look_for_dead = now + _BEAT
                fail_stale_trials(self._study)
            # Past the study's own cache, which keeps all trials and goes through them each time.
            found = self._storage._get_trials(self._id, None, self._open, self._newest_over)
        over = {trial._trial_id for trial in found if trial.state.is_finished()}
        self._open = {trial._trial_id for trial in found} - over
        self._newest_over = max(over | {self._newest_over})
        return found

    def offer(self, schedule: Mapping[str, Any]) -> None:
        """Add a trial that waits."""
        waiting = create_trial(state=TrialState.WAITING, user_attrs={"schedule": dict(schedule)})
        with self._errors():
            self._storage.create_new_trial(self._id, waiting)

    def take(self, trial: FrozenTrial) -> bool:
        """Take a trial that waits; False if another tuner was faster."""
        with self._errors():
            self._storage.record_heartbeat(trial._trial_id)  # before it is taken: no trial is without a sign of life
            taken = self._set_state(trial._trial_id, TrialState.RUNNING)
        if taken:
            self._taken.add(trial._trial_id)
        return taken

    def cancel(self, trial: FrozenTrial) -> None:
        """Give up a trial that waits."""
        with self._errors():
            self._set_state(trial._trial_id, TrialState.FAIL)

    def tell(self, trial: FrozenTrial, outcome: Outcome) -> None:
        """What became of a trial that was taken; seconds are the study's values, infinite for a failure."""
        # Its computer may have slept, and the trial be somebody else's now.
        with self._errors(), suppress(UpdateFinishedTrialError):
            self._storage.set_trial_user_attr(trial._trial_id, "status", outcome.status)
            self._set_state(trial._trial_id, TrialState.COMPLETE, inf if outcome.seconds is None else outcome.seconds)
        self._taken.discard(trial._trial_id)

    def _set_state(self, trial: int, state: Any, *values: float) -> bool:
        """Whether the trial has this state from now on: it may be over, or taken already."""
        try:
            return self._storage.set_trial_state_values(trial, state, values or None)
        except UpdateFinishedTrialError:
            return False

    def _beat(self) -> None:
        while not self._ending.wait(_BEAT):
            with suppress(DatabaseError), self._errors():  # a server that is back in time has lost nothing
                for trial in list(self._taken):
                    self._storage.record_heartbeat(trial)
        self._storage.remove_session()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what Optuna says of the database into `DatabaseError`."""
        with one_line_errors(self._location):
            try:
                yield
            except StorageInternalError as error:
                raise error.__cause__ or error from None


def outcome_of(trial: FrozenTrial) -> Outcome:
    """What became of a trial that was told.

    Raises:
        ValueError: it does not say so.
    """
    status = Status(str(trial.user_attrs.get("status")))
    return Outcome(status, trial.values[0] if status is Status.OK and trial.values else None)


def _storage(db: TuningDB) -> RDBStorage:
    """Optuna's tables; made by one process at a time, for Optuna does not lock."""
    _accept_experiments()
    url = of_schema(db.url, _SCHEMA)
    engine = create_engine(url)

    def made() -> bool:
        return inspect(engine).has_table("alembic_version", _SCHEMA)  # the last that Optuna makes

    if not made():
        with db.locked():
            if not made():
                with engine.begin() as connection:
                    connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {_SCHEMA}"))
                _opened(url).engine.dispose()
    engine.dispose()
    try:
        return _opened(url)
    except RuntimeError as error:  # another version's tables, and what to do
        raise DatabaseError(f"{db.location}: {error}") from None


def _opened(url: URL) -> RDBStorage:
    return RDBStorage(
        url.render_as_string(hide_password=False).replace("{", "{{").replace("}", "}}"),
        {"pool_pre_ping": True},
        heartbeat_interval=_BEAT,
        grace_period=_SILENCE,
        heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(_RETRIES),
    )


def _accept_experiments() -> None:
    """Optuna warns of what it has had for years, such as signs of life."""
    for name in ("heartbeat_interval", "fail_stale_trials", "RetryHeartbeatStaleTrialCallback"):
        warnings.filterwarnings("ignore", f".*{name}", ExperimentalWarning)
