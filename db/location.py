"""Where the tuning database is. It imports no SQLAlchemy, which takes a third of a second."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_data_path


def name_of(name: str | Path | None) -> str:
    """What names the database: `name`, even an empty one, else AUTOTUNE_DB, else the user's own file.

    Raises:
        TypeError: neither text nor a path.
    """
    if not isinstance(name, str | Path | None):
        raise TypeError(f"a database is named by a {type(name).__name__}: expected a path or a URL")
    return str(os.environ.get("AUTOTUNE_DB") or users_file()) if name is None else str(name)


def named_file(name: str) -> Path | None:
    """The SQLite file of a name that is a path; None of a URL."""
    return None if "://" in name else Path(name).expanduser().absolute()


def users_file() -> Path:
    """The file in the user's data folder."""
    return user_data_path("autotune") / "tuning.sqlite3"
