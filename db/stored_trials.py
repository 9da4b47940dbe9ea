"""The trials that a database takes in: what is recorded or merged, and what ships."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from autotune.base.log import slow
from autotune.base.nvrtc import installed_nvrtc

from .connection import DatabaseConnection
from .errors import DatabaseError, NoRoomError, ReadOnlyError
from .exchange import MergeCounts, from_document, read_document
from .foreign import check_foreign
from .models import DeviceRow, InfoRow
from .pretuned import ShippedFile, shipped_files
from .storing import Rule, better, store
from .trials import Trial
from .views import COMPILER, renew_views


class StoredTrials(DatabaseConnection):
    """Storing trials, with the views of their operators; and those that ship, when they are first asked for."""

    def __init__(self, url: str | Path | None = None, *, create: bool = True) -> None:
        self._taken_in: set[tuple[str, str]] = set()
        self._viewed: set[str] = set()  # operators whose views are known to be up to date
        super().__init__(url, create=create)

    def _take_in(self, operator: str | None = None, device: str | None = None) -> None:
        """Merge the shipped trials of an operator and a device model, each file of them once for its content.

        A database that is read-only goes without, as does one without room, with a warning.
        """
        files = [file for file in shipped_files(operator, device) if (file.name, file.digest) not in self._taken_in]
        new = [file for file in files if not self._has(file)]
        if new:
            slow.info("storing the trials that ship, %d file%s, once", len(new), "s" * (len(new) > 1))
        try:
            for file in new:
                self._merge_file(file)
        except NoRoomError as error:
            warnings.warn(f"{error}; until then, trials that ship are missing", RuntimeWarning, stacklevel=3)
        except ReadOnlyError:
            pass
        self._taken_in |= {(file.name, file.digest) for file in files}

    def _has(self, file: ShippedFile) -> bool:
        with self._read() as session:
            known = session.get(InfoRow, f"shipped {file.name}")
            return known is not None and known.value == file.digest

    def _merge_file(self, file: ShippedFile) -> None:
        try:
            trials = from_document(read_document(file.path))
            self._check(trials)
        except ValueError as error:
            where = "" if str(error).startswith(str(file.path)) else f"{file.path}: "
            raise DatabaseError(f"{where}{error}: correct or remove this file of trials") from error
        self._store(trials, better, InfoRow(name=f"shipped {file.name}", value=file.digest))

    def _store(
        self, trials: Sequence[Trial], rule: Rule, fact: InfoRow | None = None, operators: Iterable[str] = ()
    ) -> MergeCounts:
        """Store trials and a fact in one transaction, and renew the views of their operators and of others once."""
        new = {*operators, *(trial.problem.operator for trial in trials)} - self._viewed

        def work(session: Session) -> MergeCounts:
            counts = store(trials, session, rule)
            if fact:
                session.merge(fact)
            if new:
                session.merge(InfoRow(name=COMPILER, value=installed_nvrtc() or ""))
            for operator in new:
                renew_views(session.connection(), operator)
            return counts

        counts = self._write(work)
        self._viewed |= new
        return counts

    def _check(self, trials: Iterable[Trial]) -> None:
        with self._read() as session:
            known = {row.model: row.plain for row in session.scalars(select(DeviceRow))}
        check_foreign(trials, known)
