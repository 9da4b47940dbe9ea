"""A run for Optuna's own tools: its trials as a journal of studies."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optuna import create_study
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend
from optuna.trial import FrozenTrial, TrialState, create_trial

from autotune.base.files import atomic_write
from autotune.base.optuna_log import quiet_optuna
from autotune.db.errors import DatabaseError
from autotune.db.trials import Trial
from autotune.search_spaces.contract.known import known
from autotune.search_spaces.contract.trial_space import TrialSpace

from .history import seconds_of

if TYPE_CHECKING:
    from autotune.db import RunRecord, TuningDB


@quiet_optuna()
def export_run(db: TuningDB, run: RunRecord, path: Path) -> int:
    """Write what a run tried as a journal of Optuna, with a study for each problem; returns how many trials.

    Raises:
        DatabaseError: the run has no trial.
        OSError: the file cannot be written; what was there is still there.
    """
    trials = sorted(db.trials(run=run.id), key=lambda trial: (_study_of(trial), trial.created_at))
    if not trials:
        raise DatabaseError(
            f"{db.location} has no trial of run {run.id}: it stored none, or later runs tried them again"
        )
    journal = _Journal()
    storage = JournalStorage(journal)
    for name, group in groupby(trials, _study_of):
        create_study(storage=storage, study_name=name).add_trials(list(_exported([*group])))
    with atomic_write(path) as written:
        written.write_text("".join(json.dumps(log, separators=(",", ":")) + "\n" for log in journal.logs))
    return len(trials)


class _Journal(BaseJournalBackend):
    """A journal in memory: Optuna's file waits for the disk after each line."""

    def __init__(self) -> None:
        self.logs: list[dict[str, Any]] = []

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write logs."""
        self.logs += logs

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        """The logs from one on, in order."""
        return self.logs[log_number_from:]


def _study_of(trial: Trial) -> str:
    return f"{trial.problem.operator} {trial.problem.key} on {trial.device.model}, {trial.time_source}"


def _exported(trials: list[Trial]) -> Iterable[FrozenTrial]:
    """The trials of one problem in Optuna's terms.

    One outside of the search space has no parameters and counts as pruned, which keeps Optuna's tools from looking for
    what all complete trials have in common.
    """
    about = known(trials[0].problem.operator, trials[0].problem.fields, trials[0].device.limits)
    space = about and TrialSpace(about.operator.space(about.problem, about.spec))
    for trial in trials:
        schedule = about and about.schedule(trial.schedule)
        params = space.params_of(schedule) if space and schedule else None
        seconds = seconds_of(trial)
        told = {"error": trial.error, "stopped_early": trial.conditions.get("stopped_early"), "run": trial.run}
        told |= {} if params else {"schedule": dict(trial.schedule)}
        if about and schedule and "shared_bytes" in trial.resources:  # what is launched: static and dynamic memory
            told["shared_bytes"] = trial.resources["shared_bytes"] + schedule.footprint(about.problem).shared_bytes
        yield create_trial(
            state=TrialState.COMPLETE if params else TrialState.PRUNED,
            value=seconds,
            params=params,
            distributions=space.distributions if space and params else None,
            constraints={"failed": 1.0} if seconds == inf else None,
            user_attrs={"status": trial.status, "time_source": trial.time_source, **trial.resources}
            | {name: value for name, value in told.items() if value},
        )
