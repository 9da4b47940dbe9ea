"""What a process read from the database, cached in a file for the next one, until the database or autotune changes.

To import SQLAlchemy and to ask it takes a fifth of a second here and a whole one elsewhere; to read a snapshot, a
hundredth of that.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from autotune import codegen, search_spaces
from autotune.base.cache import cache_folder, keep_newest, own_content, own_place, seal
from autotune.base.files import write_text

_FORMAT = 4  # the form of a snapshot; what a record is, or which one is best, takes a new number when it changes
_KEPT = 100  # snapshots of operators on device models
_TICK = 100_000_000  # ns: more than the clock of a file system goes on by at once


class Version(NamedTuple):
    """What a database holds, without a look into it.

    Attributes:
        name: changes when the database, the shipped records or what emits programs change; empty if that cannot be
            told.
        settled: whether the database was last written long enough ago that whoever writes again changes its name.
    """

    name: str = ""
    settled: bool = False


def version_of(location: str, shipped: str) -> Version:
    """The version of a SQLite database, by its path; of any other there is none.

    Args:
        location: the path.
        shipped: names the shipped trials that the database is to hold.
    """
    now, written = time.time_ns(), []
    for path in (Path(location), Path(f"{location}-wal")):
        with suppress(OSError):
            status = path.stat()
            written.append((status.st_mtime_ns, status.st_size))
    if not written:
        return Version()
    return Version(f"{_FORMAT} {_generator()} {written} {shipped}", now - max(written)[0] > _TICK)


@cache
def _generator() -> tuple[int, int, int]:
    """When the files that emit programs were last written, how many there are, and their bytes."""
    files = [
        entry.stat()
        for package in (codegen, search_spaces)
        for folder, _, _ in os.walk(package.__path__[0])
        for entry in os.scandir(folder)
        if entry.name.endswith((".py", ".cuh"))
    ]
    return max(file.st_mtime_ns for file in files), len(files), sum(file.st_size for file in files)


def load(key: tuple[str, ...], version: Version) -> Any:
    """The JSON value that was saved by this key for this version; None if there is none, or if it is damaged."""
    try:
        sealed, text = own_content(_file(key)).decode().split("\n")
        return json.loads(text) if sealed == _seal(version, text) else None
    except (OSError, ValueError):
        return None


def save(key: tuple[str, ...], version: Version, value: Any) -> None:
    """Keep a JSON value for the next process, if the version is settled."""
    if not version.settled:
        return
    file = _file(key)
    text = json.dumps(value)
    with suppress(OSError):  # no call may fail because a disk is full
        write_text(own_place(file), f"{_seal(version, text)}\n{text}")
        keep_newest(file.parent, _KEPT)


def _seal(version: Version, text: str) -> str:
    return seal(version.name.encode(), text.encode()).hex()


def _file(key: tuple[str, ...]) -> Path:
    return cache_folder("records") / f"{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}.json"
