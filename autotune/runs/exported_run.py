"""A run for Optuna's own tools: its part of the studies, as a journal of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from optuna import create_study
from optuna.storages import BaseStorage, JournalStorage
from optuna.trial import FrozenTrial

from autotune.base.files import atomic_write
from autotune.base.optuna_log import quiet_optuna
from autotune.db.engine import sqlite_file
from autotune.db.errors import DatabaseError
from autotune.db.journal import RUN, JournalFile, journal_errors
from autotune.db.life import studies_folder

if TYPE_CHECKING:
    from autotune.db import RunRecord, TuningDB

_Part = tuple[str, list[FrozenTrial]]


@quiet_optuna()
def export_run(db: TuningDB, run: RunRecord, path: Path) -> int:
    """Write what a run tried as a journal of Optuna, with a study for each of its problems; returns how many trials.

    Each trial is as in the study that tuners share. Those that have not ended are left out.

    Raises:
        DatabaseError: no study has a trial of the run, or one cannot be read.
        OSError: the file cannot be written; what was there is still there.
    """
    parts = list(_parts(db, run))
    if not parts:
        raise DatabaseError(f"no study beside {db.location} has a trial of run {run.id}: its journals are gone")
    with atomic_write(path) as written, closing(JournalFile(written)) as file:
        storage = JournalStorage(file)
        for name, trials in parts:
            create_study(storage=storage, study_name=name).add_trials(trials)
    return sum(len(trials) for _, trials in parts)


def _parts(db: TuningDB, run: RunRecord) -> Iterator[_Part]:
    """Of each study its name, and its trials of the run, if there are any."""
    if db.url.get_backend_name() == "postgresql":
        from autotune.db.study_tables import StudyTables

        with closing(StudyTables(db)) as tables, tables.errors():
            yield from _of_run(tables, run, lambda name: f"{run.operator} " in name)
    elif file := sqlite_file(db.url):
        for path in sorted(studies_folder(file).glob(f"{run.operator}-*.journal")):
            with journal_errors(path), closing(JournalFile(path)) as journal:
                yield from _of_run(JournalStorage(journal), run)


def _of_run(storage: BaseStorage, run: RunRecord, chosen: Callable[[str], bool] = bool) -> Iterator[_Part]:
    for study in storage.get_all_studies():
        if chosen(study.study_name):
            trials = storage.get_all_trials(study._study_id, deepcopy=False)
            ours = [one for one in trials if one.user_attrs.get(RUN) == run.id and one.state.is_finished()]
            if ours:
                yield study.study_name, ours
