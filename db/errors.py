"""What a database driver complains about, as one line that names the file and the remedy."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

BUSY_SECONDS = 30


class DatabaseError(RuntimeError):
    """A database that cannot be opened, read or written; the message is one line that names the remedy."""


class BadUrlError(DatabaseError):
    """Text that names no database that this installation can open."""


class ReadOnlyError(DatabaseError):
    """A write to a database that only allows reading."""


# By SQLite's primary result code, https://sqlite.org/rescode.html.
_REMEDIES = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite database: move it away or restore it; nothing was changed",
    sqlite3.SQLITE_CORRUPT: "is malformed: move it away or restore it; nothing was changed",
    sqlite3.SQLITE_FULL: "does not fit on its disk: free some space; what was stored before is safe",
    sqlite3.SQLITE_IOERR: "could not be written or read: look at its disk; what was stored before is safe",
    sqlite3.SQLITE_BUSY: f"was locked by another process for over {BUSY_SECONDS} s: end that process or try again",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: it must be a file in a folder that you may write to",
    sqlite3.SQLITE_READONLY: "is read-only: make it writable or use another --db",
}


@contextmanager
def one_line_errors(location: str) -> Iterator[None]:
    """Turn what SQLAlchemy raises about the database at `location` into `DatabaseError`."""
    try:
        yield
    except SQLAlchemyError as error:
        raise _database_error(location, error) from error


def _database_error(location: str, error: SQLAlchemyError) -> DatabaseError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code not in _REMEDIES:
        return DatabaseError(f"{location}: {' '.join(str(cause).split())}")
    kind = ReadOnlyError if code == sqlite3.SQLITE_READONLY else DatabaseError
    return kind(f"{location} {_REMEDIES[code]}")
