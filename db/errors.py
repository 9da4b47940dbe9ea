"""What a database driver complains about, as one line that names the file and the remedy."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import shorten

from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from autotune.base.errors import AutotuneError, InputError

BUSY_SECONDS = 30
_LONGEST = 200  # characters of what is said of a value
UNUSABLE_DISK = "could not be written or read: look at its disk; what was stored before is safe"


class DatabaseError(AutotuneError, RuntimeError):
    """A database that cannot be opened, read or written; the message is one line that names the remedy."""


class BadUrlError(DatabaseError, InputError):
    """Text that names no database that this installation can open."""


class ReadOnlyError(DatabaseError):
    """A write to a database that only allows reading."""


class NoRoomError(DatabaseError):
    """A write to a database whose disk is full."""


_INCOMPLETE = "lacks a table or a column that autotune made: restore it, or move it away for a new one"
_MISSING = re.compile("no such (table|column)|has no column")  # SQLite has one code for these and wrong SQL
_FULL = "does not fit on its disk: free some space; what was stored before is safe"
_BUSY = f"was locked by another process for over {BUSY_SECONDS} s: end that process or try again"
_READ_ONLY = "is read-only: make it writable or use another --db"

# By SQLite's primary result code, https://sqlite.org/rescode.html, or PostgreSQL's SQLSTATE,
# https://www.postgresql.org/docs/current/errcodes-appendix.html.
_REMEDIES: dict[int | str, str] = {
    sqlite3.SQLITE_NOTADB: "is not a SQLite database: move it away or restore it; nothing was changed",
    sqlite3.SQLITE_ERROR: _INCOMPLETE,
    "42P01": _INCOMPLETE,
    "42703": _INCOMPLETE,
    sqlite3.SQLITE_CORRUPT: "is malformed: move it away or restore it; nothing was changed",
    sqlite3.SQLITE_FULL: _FULL,
    "53100": _FULL,
    sqlite3.SQLITE_IOERR: UNUSABLE_DISK,
    sqlite3.SQLITE_BUSY: _BUSY,
    "55P03": _BUSY,
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: it must be a file in a folder that you may write to",
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    "25006": _READ_ONLY,
    "42501": "refuses this to its user: let its owner grant the right to it, or use another --db",
}
_KINDS: dict[int | str, type[DatabaseError]] = {
    sqlite3.SQLITE_NOTADB: BadUrlError,
    **dict.fromkeys((sqlite3.SQLITE_READONLY, "25006", "42501"), ReadOnlyError),
    **dict.fromkeys((sqlite3.SQLITE_FULL, "53100"), NoRoomError),
}

# What is said where there is no connection, for which the driver has no SQLSTATE; the last one is for all else.
_CONNECTING = {
    "password authentication failed": "correct the user or the password in the URL",
    "no password supplied": "give the password in the URL, in PGPASSWORD or in ~/.pgpass",
    "too many clients": "end some of its clients, or raise its max_connections: each process has one",
    'database ".*" does not exist': "make it with createdb, or correct the name in the URL",
    "": "start its server, or correct the host and the port in the URL",
}


@contextmanager
def one_line_errors(location: str) -> Iterator[None]:
    """Turn what SQLAlchemy raises about the database at `location` into `DatabaseError`."""
    try:
        yield
    except SQLAlchemyError as error:
        raise _database_error(location, error) from error


@contextmanager
def readable(location: str) -> Iterator[None]:
    """Turn what is said of values that autotune never writes, by records, columns and JSON, into `DatabaseError`."""
    try:
        yield
    except (LookupError, RecursionError, TypeError, ValueError) as error:
        said = shorten(str(error), _LONGEST, placeholder=" …")
        raise DatabaseError(f"{location} holds what cannot be read ({said}): restore it") from error


def _database_error(location: str, error: SQLAlchemyError) -> DatabaseError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    code = getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code in _REMEDIES and (code != sqlite3.SQLITE_ERROR or _MISSING.search(str(cause))):
        return _KINDS.get(code, DatabaseError)(f"{location} {_REMEDIES[code]}")
    said = " ".join(re.sub("\n\t.*", "", str(cause)).split())  # the driver's hints are in lines of their own
    if isinstance(error, OperationalError) and getattr(cause, "sqlstate", "") is None:
        said += next(f": {remedy}" for phrase, remedy in _CONNECTING.items() if re.search(phrase, said))
    return DatabaseError(f"{location}: {said}")
