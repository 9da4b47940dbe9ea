"""A database to read; where the user's own file cannot be made, a temporary one."""

from __future__ import annotations

import os
import warnings
from contextlib import suppress

from autotune.base.temporary_cache import temporary_root

from .database import TuningDB
from .errors import DatabaseError
from .location import users_file


def to_read(url: str | None, *, create: bool = False) -> TuningDB:
    """A database to read, as `TuningDB` takes it.

    Where the user's own file cannot be made, in a read-only home or on a full disk for example, it is a temporary one
    with what ships, with a warning.

    Raises:
        DatabaseError: another one, or one that was made before, cannot be opened.
    """
    try:
        return TuningDB(url, create=create)
    except DatabaseError as error:
        if url or os.environ.get("AUTOTUNE_DB") or _has_content():
            raise
        serving = "a temporary database with what ships serves until this process ends"
        warnings.warn(f"{error}; {serving}", RuntimeWarning, stacklevel=2)
    return TuningDB(temporary_root() / users_file().name)


def _has_content() -> bool:
    """Whether the user's own file is one that was made: on a full disk an empty one may be left."""
    with suppress(OSError):  # a folder that may not be entered
        return users_file().stat().st_size > 0
    return False
