"""Which revision a database is at, and how it gets to ours."""

from __future__ import annotations

import re
import sqlite3
import warnings
from contextlib import closing, suppress
from pathlib import Path
from reprlib import repr as short

from sqlalchemy import Connection, Engine, inspect, text

from .engine import WRITE
from .errors import DatabaseError
from .models import Base
from .upgrade import rename_stored
from .views import drop_views, is_ours, make_views

_OURS = re.compile(r"\d{4}")  # alembic makes others up of hexadecimal digits
MIGRATIONS = Path(__file__).parent / "migrations"


def revisions() -> list[str]:
    """The revisions that this version knows, oldest first: ``0001`` of ``versions/0001_trials.py``."""
    return sorted(path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def ensure_schema(engine: Engine, location: str) -> None:
    """Create or migrate the tables unless they are up to date; safe in many processes at once.

    Raises:
        DatabaseError: the database is newer, or another program's; it was not changed.
    """
    with engine.begin() as connection:
        current = _revision(connection, location)
        up_to_date = current == revisions()[-1]
        if engine.dialect.name == "sqlite":
            _refuse_code(connection, location, before_migration=not up_to_date)
    if not up_to_date:
        _migrate(engine, location)
    if engine.dialect.name == "sqlite":
        _use_wal(engine)


def _refuse_code(connection: Connection, location: str, *, before_migration: bool) -> None:
    """A view or a trigger that autotune did not make is a program in a file that may come from anywhere."""
    found = connection.execute(text("SELECT type, name, sql FROM sqlite_master WHERE type IN ('view', 'trigger')"))
    for kind, name, sql in found:
        if kind == "trigger" or not is_ours(name, sql, before_migration=before_migration):
            raise DatabaseError(f"{location} has a {kind}, {short(name)}: use another --db; nothing was changed")


def _revision(connection: Connection, location: str) -> str | None:
    """The database's revision, one of ours; None if it is empty."""
    tables = inspect(connection).get_table_names()  # at once: another process may be about to create them
    if "alembic_version" not in tables:
        if tables:
            raise DatabaseError(f"{location} holds another program's tables: use another --db; nothing was changed")
        return None
    found = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    known = revisions()
    if not any(_OURS.fullmatch(revision) for revision in found):
        raise DatabaseError(f"{location} holds another program's tables: use another --db; nothing was changed")
    if len(found) != 1 or found[0] not in known:
        raise DatabaseError(
            f"{location} was written by a newer autotune (revision {', '.join(found) or 'none'}; this one knows up to "
            f"{known[-1]}): upgrade autotune or use another --db; nothing was changed"
        )
    missing = sorted(set(Base.metadata.tables) - set(tables)) if found[0] == known[-1] else []
    if missing:
        raise DatabaseError(f"{location} lacks the table {missing[0]}: restore it, or move it away for a new one")
    return str(found[0])


def _migrate(engine: Engine, location: str) -> None:
    from alembic import command  # slow to import, and nearly every database is up to date
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.execution_options(**{WRITE: True}).begin() as connection:
        # Another process may have migrated since, even to a revision that is too new.
        if _revision(connection, location) != revisions()[-1]:
            config.attributes["connection"] = connection
            old = _old_studies(connection, location)
            drop_views(connection)
            command.upgrade(config, "head")
            rename_stored(connection)
            make_views(connection)
            if old:
                said = "the database has all trials that ended there, and what was under way may be proposed again"
                warnings.warn(f"{old} is not used any more: {said}", RuntimeWarning, stacklevel=5)


def _old_studies(connection: Connection, location: str) -> str:
    """Where earlier versions had studies beside the database; empty if it has none."""
    if connection.dialect.name == "sqlite":
        folder = Path(f"{location}.studies")
        return str(folder) if any(folder.glob("*.journal")) else ""
    return f"schema studies of {location}" if inspect(connection).has_table("studies", "studies") else ""


def _use_wal(engine: Engine) -> None:
    """Let readers and a writer work at once. Of processes that switch at the same time, SQLite lets some fail."""
    with suppress(sqlite3.Error), closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA journal_mode = WAL")
