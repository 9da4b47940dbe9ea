"""The study of one problem on one device model, in Optuna's storage beside the database: what all tuners share.

A trial of the study is one schedule. It waits, is taken by a tuner, and is told. One whose tuner is over before that is
given up and waits again, as a new trial. A tuner works for a run on one device; a run may have several.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from functools import partial
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from optuna import create_study
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial, TrialState, create_trial

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.engine import sqlite_file
from autotune.db.errors import DatabaseError
from autotune.db.journal import RUN, TUNER, Journal
from autotune.db.life import studies_folder
from autotune.devices.base import Device
from autotune.runs.provenance import depends_on
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.trial_space import TrialSpace
from autotune.tuner.search.proposals import FAILED

if TYPE_CHECKING:
    from autotune.db import TuningDB

_RETRIES = 3  # a schedule whose tuners die again and again may be what kills them
_LONGEST_NAME = 150  # characters of a file's name


class StoredStudy:
    """One study; a context manager whose tuner is alive meanwhile, and at its end gives back what it had taken.

    Args:
        db: the database that the study is beside: for a SQLite file in a journal in the folder ``FILE.studies``, for
            PostgreSQL in tables of its own there, for a database in memory in memory.
        operator, problem, device: what is tuned; those that differ in what a time depends on have different studies.
        run: the id of the run.
        name: a prefix of the study's name.

    Attributes:
        tuner: the name of this tuner.
        exclusive: makes a context manager that lets all other tuners of the study wait.

    Raises:
        DatabaseError: as in every method, one line.
    """

    def __init__(
        self,
        db: TuningDB,
        operator: Operator[Any, Any],
        problem: Problem,
        device: Device,
        run: str,
        name: str | None = None,
    ) -> None:
        title, facts = study_name(name, operator, problem, device)
        self.tuner = uuid4().hex[:12]
        self._marks = {TUNER: self.tuner, RUN: run}
        self._space = TrialSpace(operator.space(problem, device.spec))
        self._operator, self._problem, self._spec = operator, problem, device.spec
        self._retry = RetryHeartbeatStaleTrialCallback(_RETRIES)
        if db.url.get_backend_name() == "postgresql":
            from autotune.db.study_tables import StudyTables

            self._storage: Journal | StudyTables = StudyTables(db)
        else:
            file = sqlite_file(db.url)
            stem = f"{operator.name}-{problem.key}"[:_LONGEST_NAME]
            path = file and studies_folder(file) / f"{stem}-{facts}.journal"
            self._storage = Journal(path, self.tuner)
        with self._storage.errors():
            self._study = create_study(storage=self._storage, study_name=title, load_if_exists=True)
            self._id = self._storage.get_study_id_from_name(title)
        self.exclusive = partial(self._storage.exclusive, self._id)
        self._taken: set[int] = set()
        self._open: set[int] = set()  # trials that were not over when last asked, and the newest one that was
        self._newest_over = -1
        self._look_for_dead = 0.0

    def __enter__(self) -> Self:
        """Begin; trials that are over by now are no news, since the database knows which of them still count."""
        self._storage.__enter__()
        self.news()
        return self

    def __exit__(self, *_exception: object) -> None:
        with suppress(DatabaseError):  # who cannot give a trial back falls silent
            for trial in [*self._taken]:
                self._set_state(trial, TrialState.WAITING)
        self._storage.__exit__()

    def news(self) -> list[FrozenTrial]:
        """The trials that were not over when last asked, in their order; those of dead tuners wait again."""
        with self._storage.errors():
            if (now := monotonic()) >= self._look_for_dead:
                self._look_for_dead = now + self._storage.look_for_dead
                self._storage.fail_dead(self._study, self._retry)
            found = self._storage.news(self._id, self._open, self._newest_over)
        over = {trial._trial_id for trial in found if trial.state.is_finished()}
        self._open = {trial._trial_id for trial in found} - over
        self._newest_over = max(over | {self._newest_over})
        return found

    def offer(self, schedule: Schedule, params: dict[str, Any] | None) -> int:
        """Add a trial that waits, with its parameters or else its schedule; its number in the storage."""
        waiting = create_trial(
            state=TrialState.WAITING,
            params=params,
            distributions=self._space.distributions if params else None,
            user_attrs=self._marks | ({} if params else {"schedule": schedule.to_dict()}),
        )
        with self._storage.errors():
            return self._storage.create_new_trial(self._id, waiting)

    def start(self, schedule: Schedule, params: dict[str, Any] | None) -> int:
        """Add a trial and take it."""
        with self._storage.errors(), self._storage.together():
            trial = self.offer(schedule, params)
            self._set_state(trial, TrialState.RUNNING)
        return trial

    def take(self, trial: int) -> bool:
        """Take a trial that waits; False if another tuner was faster."""
        with self._storage.errors(), self._storage.together():
            with suppress(UpdateFinishedTrialError):
                for name, mark in self._marks.items():
                    self._storage.set_trial_user_attr(trial, name, mark)
            return self._set_state(trial, TrialState.RUNNING)

    def tell(self, trial: int, seconds: float, in_space: bool, **attributes: Any) -> None:
        """How long the schedule of a trial takes that was taken; infinite for a failure.

        One outside of the search space has no parameters and counts as pruned, which keeps Optuna's tools from looking
        for what all complete trials have in common.
        """
        state = TrialState.COMPLETE if in_space else TrialState.PRUNED
        # Its computer may have slept, and the trial be somebody else's now.
        with self._storage.errors(), suppress(UpdateFinishedTrialError), self._storage.together():
            for name, attribute in attributes.items():
                self._storage.set_trial_user_attr(trial, name, attribute)
            for name, violation in FAILED.items() if seconds == inf else ():
                self._storage.set_trial_system_attr(trial, f"constraints:{name}", violation)
            self._storage.set_trial_state_values(trial, state, [seconds])
        self._taken.discard(trial)

    def schedule_of(self, trial: FrozenTrial) -> Schedule | None:
        """A trial's schedule; None if it has none, or one that is not legal here."""
        fields = trial.user_attrs.get("schedule")
        with suppress(ValueError, LookupError):
            if trial.params:
                schedule = self._space.schedule_of(trial.params)
            elif isinstance(fields, dict):
                schedule = self._operator.schedule(fields)
            else:
                return None
            return schedule if not self._operator.violations(self._problem, schedule, self._spec) else None
        return None

    def _set_state(self, trial: int, state: TrialState) -> bool:
        """Whether the trial has this state from now on: it may be over, or taken already."""
        with self._storage.errors(), suppress(UpdateFinishedTrialError):
            done = self._storage.set_trial_state_values(trial, state)
            (self._taken.add if done and state is TrialState.RUNNING else self._taken.discard)(trial)
            return done
        return False


def study_name(prefix: str | None, operator: Operator[Any, Any], problem: Problem, device: Device) -> tuple[str, str]:
    """The study's name, and the digest in it of what the times of its trials depend on."""
    program = operator.emit(problem, operator.default(problem, device.spec)).digest
    values = [(parameter.name, parameter.values) for parameter in operator.space(problem, device.spec).parameters]
    known = json.dumps([depends_on(device), program, values], sort_keys=True)
    facts = hashlib.sha256(known.encode()).hexdigest()[:8]
    title = f"{operator.name} {problem.key} on {device.spec.name}, {device.time_source}, {facts}"
    return f"{prefix}: {title}" if prefix else title, facts
