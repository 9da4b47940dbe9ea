"""What keeps a database small and safe."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from shlex import quote

from sqlalchemy import URL
from sqlalchemy.orm import Session

from autotune.base.files import atomic_write

from .engine import check_lasting, sqlite_file
from .errors import BadUrlError, DatabaseError, one_line_errors
from .pruning import Prunable, prune, remove_unused, stale_trials
from .stored_runs import StoredRuns


class Upkeep(StoredRuns):
    """Pruning and backups."""

    def prune(self, compiler: str | None = None, *, remove: bool = False) -> list[Prunable]:
        """The trials that can never serve again; see `pruning.prune`. With them goes what is left of studies.

        Args:
            compiler: the one in use, whose best trials stay, as those of all others do.
            remove: whether they are removed, in one transaction, or only listed.
        """
        with self._read() as session:
            stale = stale_trials(session)  # before the write lock is taken: emitting their programs takes long
            if not remove:
                return prune(session, stale, compiler, remove=False)

        def removed(session: Session) -> list[Prunable]:
            found = prune(session, stale, compiler, remove=True)
            if not self._any_alive(session):  # a tuner that begins has a study, and nothing in it yet
                remove_unused(session)
            return found

        return self._write(removed)

    def backup(self, path: Path) -> None:
        """Write a copy of a SQLite database as it is at one moment, by a rename; others may write meanwhile.

        Raises:
            BadUrlError: the database is on a server, or in memory.
            OSError: the file cannot be written; what was there is still there.
            ValueError: the file is the database itself.
        """
        check_lasting(self.url)
        file = sqlite_file(self.url)
        if file is None:
            parts = self.url.difference_update_query(["sslpassword"])
            url = URL.create("postgresql", parts.username, None, parts.host, parts.port, parts.database, parts.query)
            words = ("pg_dump", "--format=custom", f"--file={path}", url.render_as_string())
            raise BadUrlError(f"{self.location} is on a server, which makes a backup by {' '.join(map(quote, words))}")
        if path.resolve() == file.resolve():
            raise ValueError(f"{path} is the database itself: name another file for the backup")
        try:
            with (
                one_line_errors(self.location),
                closing(self._engine.raw_connection()) as source,
                atomic_write(path) as written,
                closing(sqlite3.connect(written)) as target,
            ):
                source.driver_connection.backup(target)  # type: ignore[union-attr]
        except sqlite3.Error as error:
            raise DatabaseError(f"{path} could not be written: {error}") from error
