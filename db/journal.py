"""Optuna's journal: a log of all that is done to a study, in a file that processes of one machine share.

What `optuna.storages.JournalStorage` leaves open is who is alive, and what becomes of a line that a process was writing
when it died. Here a process that writes holds the file's lock (``flock``, which ends with it), and cuts a torn line off
first. Each tuner holds the lock of a file of its own; a tuner whose lock is free is over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fcntl import LOCK_EX, LOCK_UN, flock
from pathlib import Path
from typing import Any, Self

from optuna import Study
from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend
from optuna.trial import FrozenTrial, TrialState, create_trial

from .errors import UNUSABLE_DISK, DatabaseError
from .life import held, is_held

# The user attributes that say who has taken a trial, and which run of the database that one works for.
TUNER, RUN = "tuner", "run"
_OVER = create_trial(state=TrialState.FAIL)


class JournalFile(BaseJournalBackend):
    """A file with a line for each log. It is not forced to the disk: the tuning database is what has to last.

    Args:
        path: of the file; None for one in memory.
    """

    def __init__(self, path: Path | None) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
        self._file = os.open(path, flags, 0o666) if path else os.memfd_create("study")
        self._next, self._offset = 0, 0  # where the log is read next
        self._depth = 0

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let all other processes wait before they write."""
        if not self._depth:
            flock(self._file, LOCK_EX)
            self._cut_torn_line()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                flock(self._file, LOCK_UN)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write logs."""
        left = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs).encode()
        with self.locked():
            while left:
                left = left[os.write(self._file, left) :]

    def read_logs(self, log_number_from: int) -> Iterator[dict[str, Any]]:
        """The logs from one on, in order."""
        if log_number_from < self._next:
            self._next, self._offset = 0, 0
        data = os.pread(self._file, os.fstat(self._file).st_size - self._offset, self._offset)
        for line in data.splitlines(keepends=True):
            if not line.endswith(b"\n"):  # somebody is writing it
                break
            self._next, self._offset = self._next + 1, self._offset + len(line)
            if self._next > log_number_from:
                yield json.loads(line)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _cut_torn_line(self) -> None:
        end = size = os.fstat(self._file).st_size
        while end and os.pread(self._file, 1, end - 1) != b"\n":
            end -= 1
        if end < size:
            os.ftruncate(self._file, end)


@contextmanager
def journal_errors(path: Path | None) -> Iterator[None]:
    """Turn what is wrong with the file of a journal into `DatabaseError`."""
    try:
        yield
    except OSError as error:
        raise DatabaseError(f"{path} {UNUSABLE_DISK}") from error
    except ValueError as error:
        said = f"holds what cannot be read ({error}): remove it; the database has all trials"
        raise DatabaseError(f"{path} {said}") from error


class Journal(JournalStorage):
    """A journal as the storage of a tuner; a context manager, whose tuner is alive meanwhile.

    Args:
        path: of the file; None for one in memory.
        tuner: a name that no other tuner has.

    Raises:
        DatabaseError: as in every method, one line.
    """

    look_for_dead = 1.0  # seconds between looks

    def __init__(self, path: Path | None, tuner: str) -> None:
        self._path, self._tuner = path, tuner
        self._life = held(self._life_of(tuner)) if path else nullcontext()
        with self.errors():
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._file = JournalFile(path)
            super().__init__(self._file)

    def __enter__(self) -> Self:
        self._life.__enter__()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._file.close()
        self._life.__exit__(None, None, None)

    def errors(self) -> AbstractContextManager[None]:
        """Turn what is wrong with the file into `DatabaseError`."""
        return journal_errors(self._path)

    def exclusive(self, study_id: int) -> AbstractContextManager[None]:
        """Let all other tuners wait meanwhile: those of a study, since each has a file of its own."""
        return self._file.locked()

    def together(self) -> AbstractContextManager[None]:
        """Write what is set meanwhile without letting the file's lock go."""
        return self._file.locked()

    def news(self, study_id: int, unfinished: Collection[int], newest: int) -> list[FrozenTrial]:
        """The trials of these numbers and those after the newest, in order; one that is over is not kept."""
        with self._thread_lock:
            self._sync_with_backend()
            trials, study_of = self._replay_result._trials, self._replay_result._trial_id_to_study_id
            asked = sorted({*unfinished, *range(newest + 1, len(trials))})
            found = [trials[one] for one in asked if study_of[one] == study_id]
            trials.update({trial._trial_id: _OVER for trial in found if trial.state.is_finished()})
        return found

    def fail_dead(self, study: Study, on_dead: Callable[[Study, FrozenTrial], None]) -> None:
        """Give up the trials of tuners that are over."""
        running = self.get_all_trials(study._study_id, deepcopy=False, states=(TrialState.RUNNING,))
        over = {tuner: self._is_over(tuner) for tuner in {self._taken_by(trial) for trial in running}}
        for trial in running:
            if over[self._taken_by(trial)]:
                self.set_trial_state_values(trial._trial_id, TrialState.FAIL)
                on_dead(study, trial)

    def _taken_by(self, trial: FrozenTrial) -> str:
        """The tuner of a trial; this one for a trial of another program, which is left alone."""
        return str(trial.user_attrs.get(TUNER, self._tuner))

    def _life_of(self, tuner: str) -> Path:
        path = self._path or Path()
        return path.with_name(f"{path.stem}.{Path(tuner).name}.run")

    def _is_over(self, tuner: str) -> bool:
        return tuner != self._tuner and not is_held(self._life_of(tuner))
