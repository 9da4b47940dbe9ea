"""The cache that serves where the user's cannot be used: one for a process and those that it starts."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_adopted: Path | None = None


def adopt(root: Path | None) -> None:
    """Use the temporary cache of the process that started this one, if that has one; its end does not end it."""
    global _adopted
    _adopted = root


def temporary_root() -> Path:
    """Its folder, which goes when the process ends that made it."""
    return _adopted or _own_root()


@cache
def _own_root() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="autotune-"))
    atexit.register(_remove_in, os.getpid(), folder)
    return folder


def _remove_in(process: int, folder: Path) -> None:
    """Remove a folder, but not at the end of a process that was forked from its owner."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
