"""From what the user typed to an engine: where the database is, and how SQLite is set up."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from platformdirs import user_data_path
from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from .errors import BUSY_SECONDS, BadUrlError, DatabaseError

# An execution option. SQLite gives a transaction the write lock from its start, because one that begins by reading
# and then finds another writer fails at once, however long the busy timeout.
WRITE = "autotune_write"


def database_url(text: str | None) -> URL:
    """The URL that `text` means: a SQLAlchemy URL, a path of a SQLite file, or by default AUTOTUNE_DB.

    Raises:
        BadUrlError: not a URL.
    """
    text = text or os.environ.get("AUTOTUNE_DB") or str(user_data_path("autotune") / "tuning.sqlite3")
    if "://" not in text:
        return URL.create("sqlite", database=str(Path(text).expanduser().absolute()))
    try:
        return make_url(text)
    except (ArgumentError, ValueError) as error:
        raise BadUrlError(f"not a database URL, nor a path: {error}") from error


def location(url: URL) -> str:
    """The database as messages name it: the path of a SQLite file, else the URL without its password."""
    file = _sqlite_file(url)
    return str(file) if file else url.render_as_string(hide_password=True)


def check_exists(url: URL) -> None:
    """Make sure that a SQLite file is there.

    Raises:
        BadUrlError: it is not.
    """
    file = _sqlite_file(url)
    if file and not file.exists():
        raise BadUrlError(f"{file}: there is no such database; autotune tune and autotune db import make one")


def engine_of(url: URL) -> Engine:
    """An engine for `url`; creates the folder of a SQLite file, touches nothing else.

    Raises:
        DatabaseError: the folder cannot be made; `BadUrlError` if the scheme is unknown or its driver is missing.
    """
    file = _sqlite_file(url)
    try:
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            url = _readable(url, file)
        engine = create_engine(url, **_pool(url))
    except OSError as error:
        raise DatabaseError(
            f"{error.filename}: {error.strerror}: the folder for the database cannot be made"
        ) from error
    except ArgumentError as error:
        raise BadUrlError(f"{location(url)}: {error}: use sqlite:/// or another scheme of SQLAlchemy's") from error
    except ImportError as error:
        raise BadUrlError(f"{location(url)}: {error}: install the driver of this database") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


def _sqlite_file(url: URL) -> Path | None:
    name = url.database
    is_file = url.get_backend_name() == "sqlite" and name and name != ":memory:" and not name.startswith("file:")
    return Path(name) if is_file and name else None


def _readable(url: URL, file: Path) -> URL:
    """`url`, made immutable where SQLite could not even read: WAL needs a writable folder for its side files."""
    wal = file.with_name(f"{file.name}-wal")
    if not file.exists() or wal.exists() or os.access(file, os.W_OK) or os.access(file.parent, os.W_OK):
        return url
    return url.set(database=file.absolute().as_uri(), query={"immutable": "1", "uri": "true"})


def _pool(url: URL) -> dict[str, Any]:
    """One shared connection for a database in memory: by default each thread would get a database of its own."""
    if url.get_backend_name() != "sqlite" or url.database not in (None, "", ":memory:"):
        return {}
    return {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0, "connect_args": {"check_same_thread": False}}


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    connection.execute("PRAGMA foreign_keys = ON")


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get(WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")
