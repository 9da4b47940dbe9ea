"""Where things are cached, and the seals that show whether a cached file is intact."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import platformdirs

SEAL_BYTES = hashlib.sha256().digest_size


def cache_folder(name: str) -> Path:
    """The cache's folder of that name, made if missing; ``AUTOTUNE_CACHE`` moves the whole cache.

    Where it cannot be written, in a read-only home for example, a temporary one serves until the process ends.
    """
    root = Path(os.environ.get("AUTOTUNE_CACHE") or platformdirs.user_cache_dir("autotune", appauthor=False))
    folder = root / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return _temporary_folder(name)
    return folder if os.access(folder, os.W_OK) else _temporary_folder(name)


def seal(key: bytes, content: bytes) -> bytes:
    """A digest of an entry's key and content; kept beside the content, it tells what is damaged or another key's."""
    return hashlib.sha256(key + content).digest()


def keep_newest(folder: Path, most: int) -> None:
    """Of more than so many entries in a folder delete the oldest, and a tenth more, so that it is seldom done."""
    entries = list(folder.iterdir())
    if len(entries) > most:
        for entry in sorted(entries, key=_changed_at)[: len(entries) - most + most // 10]:
            with suppress(OSError):  # another process does the same
                # A folder is what a process that was killed left of `files.atomic_write`.
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


@cache
def _temporary_folder(name: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"autotune-{name}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
