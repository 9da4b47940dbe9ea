"""Which runs are alive: the operating system or the server notices the end of a process, however it ends.

A run on a SQLite file holds the lock (``flock``) of a file of its own, one on PostgreSQL an advisory lock.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from .engine import sqlite_file
from .errors import UNUSABLE_DISK, DatabaseError

_CLASS = 0x72756E73  # class of the advisory locks: "runs" in ASCII
_HELD = text(
    "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND classid = :class "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


def alive(engine: Engine, url: URL, run: str) -> AbstractContextManager[None]:
    """A run of this process is alive meanwhile, for all who look into the database.

    Raises:
        DatabaseError: its lock cannot be had.
    """
    if engine.dialect.name != "sqlite":
        return _held_on_server(engine, run)
    file = sqlite_file(url)
    return held(_lock_of(file, run)) if file else nullcontext()


def living(session: Session, url: URL) -> Callable[[str], bool]:
    """A function that tells whether a run is alive, of those that have not ended; in memory, all of them are."""
    if session.get_bind().dialect.name != "sqlite":
        held_now = set(session.scalars(_HELD, {"class": _CLASS}))
        return lambda run: int(run, 16) in held_now
    file = sqlite_file(url)
    return lambda run: file is None or is_held(_lock_of(file, run))


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of a file that is nobody else's, and remove the file at the end.

    Raises:
        DatabaseError: the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        flock(descriptor, LOCK_EX)
    except OSError as error:
        raise DatabaseError(f"{path} {UNUSABLE_DISK}") from error
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock of a file; one that was left is removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        flock(descriptor, LOCK_SH | LOCK_NB)  # shared: two that look at the same time must not see each other
        with suppress(OSError):
            path.unlink(missing_ok=True)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def _held_on_server(engine: Engine, run: str) -> Iterator[None]:
    """Hold the lock by the connection of the engine, and by each that comes after one that broke.

    It is a shared lock: the server may not know yet that the old connection is gone.
    """

    def hold(connection: Any, _record: Any) -> None:
        connection.execute(f"SELECT pg_advisory_lock_shared({lock})")
        connection.commit()

    lock = f"{_CLASS}, {_signed(int(run, 16))}"
    with engine.connect() as connection:
        hold(connection.connection, None)
    event.listen(engine, "connect", hold)
    try:
        yield
    finally:
        event.remove(engine, "connect", hold)
        with suppress(DBAPIError), engine.connect() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_unlock_shared({lock})")


def _lock_of(file: Path, run: str) -> Path:
    return Path(f"{file}.runs") / f"{run}.run"


def _signed(number: int) -> int:
    """A number of 32 bits as PostgreSQL takes it."""
    return number - (1 << 32) if number >> 31 else number
