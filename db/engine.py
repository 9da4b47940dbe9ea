"""From what the user typed to an engine: where the database is, and how SQLite and PostgreSQL are set up."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from .errors import BUSY_SECONDS, BadUrlError, DatabaseError
from .location import name_of, named_file, users_file

# An execution option: the transaction has the database's only write lock from its start, so what it reads stays true
# until it has written. A later one would be too late in SQLite: who has read and then finds another writer fails at
# once, however long the busy timeout.
WRITE = "autotune_write"
# Another: the id of a problem. In PostgreSQL the transaction has the lock of that problem's trials, so that those of
# other problems are stored meanwhile, and holds off who needs all of them.
PROBLEM = "autotune_problem"

_DRIVERS = ("sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg")
_CONNECT_SECONDS = 10
# PostgreSQL knows locks by one number or by two: "autotune" in ASCII, or "auto" and that of a problem.
_WRITE_LOCK, _PROBLEM_LOCKS = 0x6175746F74756E65, 0x6175746F


def database_url(name: str | Path | None) -> URL:
    """The URL that `name` means: one of SQLAlchemy's, a path of a SQLite file, or by default AUTOTUNE_DB.

    Raises:
        BadUrlError: neither a URL nor the path of a file.
        TypeError: neither text nor a path.
    """
    name = name_of(name)
    if not name:
        raise BadUrlError("an empty name is no database: give a path or a URL, or leave it out")
    if file := named_file(name):
        if file.exists() and not file.is_file():
            raise BadUrlError(f"{file} is no file: expected the path of a SQLite database")
        return URL.create("sqlite", database=str(file))
    try:
        url = make_url(name)
    except (ArgumentError, ValueError):
        raise _not_a_url() from None
    if "@" in (url.host or ""):
        raise _not_a_url()
    return url


def _not_a_url() -> BadUrlError:
    """Does not repeat the text: what cannot be told apart may be the password."""
    return BadUrlError(
        "not a database URL, nor a path: expected postgresql+psycopg://USER:PASSWORD@HOST:PORT/NAME, with %40 for an @ "
        "in the password, or sqlite:///PATH"
    )


def location(url: URL) -> str:
    """The database as messages name it: the path of a SQLite file, else the URL without its password."""
    file = sqlite_file(url)
    return (
        str(file)
        if file
        else url.difference_update_query(["password", "sslpassword"]).render_as_string(hide_password=True)
    )


def check_exists(url: URL) -> None:
    """Make sure that a SQLite file is there, unless it is the user's own, whose name cannot be wrong.

    Raises:
        BadUrlError: it is not.
    """
    file = sqlite_file(url)
    if file and not file.exists() and file != users_file():
        raise BadUrlError(f"{file}: there is no such database; autotune tune and autotune db import make one")


def check_lasting(url: URL) -> None:
    """Make sure that a database outlives the process.

    Raises:
        BadUrlError: it is in memory.
    """
    if _in_memory(url):
        raise BadUrlError(f"{location(url)} is in memory and would keep nothing: name a file, or leave --db out")


def check_shared(url: URL) -> None:
    """Make sure that several hosts can use a database.

    Raises:
        BadUrlError: it is none of PostgreSQL.
    """
    if url.get_backend_name() != "postgresql":
        raise BadUrlError(
            f"{location(url)} is a file, which hosts cannot share: a study needs --db postgresql+psycopg://…"
        )


def engine_of(url: URL) -> Engine:
    """An engine for `url`; creates the folder of a SQLite file, touches nothing else.

    Raises:
        DatabaseError: the folder cannot be made; `BadUrlError` if the scheme is unknown or its driver is missing.
    """
    file = sqlite_file(url)
    if url.drivername not in _DRIVERS:
        raise BadUrlError(f"{url.drivername}: no known kind of database: use sqlite:/// or postgresql+psycopg://")
    try:
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            url = _readable(url, file)
        engine = create_engine(_with_defaults(url), json_serializer=_json, **_options(url))
    except OSError as error:
        raise DatabaseError(
            f"{error.filename}: {error.strerror}: the folder for the database cannot be made; AUTOTUNE_DB names another"
        ) from error
    except ImportError as error:
        raise BadUrlError(f"{location(url)}: {error}: install its driver, pip install 'autotune[postgres]'") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        event.listen(engine, "connect", _set_up_postgresql)
        event.listen(engine, "begin", _begin_postgresql)
    return engine


def _in_memory(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:")


def sqlite_file(url: URL) -> Path | None:
    """The file of a SQLite database; None if it is in memory or of another kind."""
    name = url.database
    is_file = url.get_backend_name() == "sqlite" and name and name != ":memory:" and not name.startswith("file:")
    return Path(name) if is_file and name else None


def _readable(url: URL, file: Path) -> URL:
    """`url`, made immutable where SQLite could not even read: WAL needs a writable folder for its side files."""
    wal = file.with_name(f"{file.name}-wal")
    if not file.exists() or wal.exists() or os.access(file, os.W_OK) or os.access(file.parent, os.W_OK):
        return url
    return url.set(database=file.absolute().as_uri(), query={"immutable": "1", "uri": "true"})


def _with_defaults(url: URL) -> URL:
    """`url`, with what PostgreSQL leaves open unless it says so itself.

    That is how long to wait for a host that does not answer, and the encoding of text: a database that knows none,
    SQL_ASCII, would give bytes.
    """
    if url.get_backend_name() == "sqlite":
        return url
    return url.set(query={"connect_timeout": str(_CONNECT_SECONDS), "client_encoding": "utf8", **url.query})


def _options(url: URL) -> dict[str, Any]:
    """How connections are kept.

    PostgreSQL's is tried before it is used, since the server may have been started again between two trials, and each
    statement sees what was committed before it: in stricter isolation one sees what was so before it waited for the
    lock. The threads of a process share one connection: transactions are short, and a server has few. So do those of a
    database in memory: by default each would get a database of its own.
    """
    if url.get_backend_name() == "sqlite" and not _in_memory(url):
        return {}
    shared = {"poolclass": QueuePool, "pool_size": 1, "max_overflow": 0, "pool_timeout": 2 * BUSY_SECONDS}
    if _in_memory(url):
        return shared | {"connect_args": {"check_same_thread": False}}
    return shared | {"pool_pre_ping": True, "isolation_level": "READ COMMITTED"}


def _json(value: Any) -> str:
    """Without blanks, which would take a tenth of a trial's room."""
    return json.dumps(value, separators=(",", ":"))


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    connection.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
    connection.execute("PRAGMA foreign_keys = ON")
    # A commit does not wait for the disk: with a WAL, what is lost in a power cut is the last trials, never the file.
    connection.execute("PRAGMA synchronous = NORMAL")


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get(WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _set_up_postgresql(connection: Any, _record: Any) -> None:
    """Of a host that is gone, the server hears nothing: it asks after 15 s of silence."""
    asked = ("tcp_keepalives_idle", 15), ("tcp_keepalives_interval", 15), ("tcp_keepalives_count", 2)
    for name, value in (("lock_timeout", f"'{BUSY_SECONDS}s'"), *asked):
        connection.execute(f"SET {name} = {value}")
    connection.commit()


def _begin_postgresql(connection: Connection) -> None:
    """Take a lock. Of a host that is gone, the server hears nothing: it ends a transaction that is long silent."""
    options = connection.get_execution_options()
    lock = f"pg_advisory_xact_lock({_WRITE_LOCK})"
    if PROBLEM in options:
        lock = (
            f"pg_advisory_xact_lock_shared({_WRITE_LOCK}), pg_advisory_xact_lock({_PROBLEM_LOCKS}, {options[PROBLEM]})"
        )
    if options.get(WRITE, False):
        connection.exec_driver_sql(
            f"SELECT set_config('idle_in_transaction_session_timeout', '{BUSY_SECONDS / 2}s', true), {lock}"
        )
