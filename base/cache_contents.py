"""What is in the cache, by kind, and how to empty it while others use it."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .cache import existing_cache

_DIGITS = "[0-9a-f]"
# Locks, and what is being written or is swept by whoever comes next: neither content nor foreign.
_WORKING = re.compile(r".*\.lock|(.*/)?\..*|tmp/.*")
_IN_USE = 60  # seconds for which a file of the emulator stays: whoever took it from the cache is about to run it


class Kind(NamedTuple):
    """What a folder of the cache holds.

    Attributes:
        summary: in words.
        names: of its files, as a regular expression; what has another name was not written by autotune.
        in_use: seconds for which a file that was used stays when the cache is cleared.
    """

    summary: str
    names: str
    in_use: int = 0


KINDS: Mapping[str, Kind] = {
    "called": Kind("called problems", r"called\.json"),
    "cubins": Kind("compiled kernels", rf"entries/{_DIGITS}+/{_DIGITS}+"),
    "emulator": Kind("kernels for the emulator", rf"(runtime-)?{_DIGITS}{{32}}(\.o)?", _IN_USE),
    "first-calls": Kind("results of first calls", r"first-calls\.json"),
    "failures": Kind("failure reports", rf"\w+-{_DIGITS}{{16}}-{_DIGITS}{{8}}\.json"),
    "records": Kind("snapshots of databases", rf"{_DIGITS}{{32}}\.json"),
    "sources": Kind("sources of winners", rf"\w+-{_DIGITS}{{16}}\.cu"),
    "verdicts": Kind("verdicts on records", r"verdicts\.json"),
}


@dataclass(frozen=True)
class Content:
    """Files of one kind.

    Attributes:
        kind: a name in `KINDS`.
        files, bytes: how many, and of what size together.
        foreign: what has no name of a cached file, and so was not written by autotune.
    """

    kind: str
    files: int
    bytes: int
    foreign: int


class _Entry(NamedTuple):
    """What has the name of a cached file, in the folder that a descriptor is open on."""

    kind: Kind
    name: str
    folder: int
    status: os.stat_result


def contents() -> list[Content]:
    """What is in the cache, by kind; kinds that were never used are left out.

    Raises:
        UnsafeCacheError: the cache belongs to somebody else, or others may write to it.
    """
    return _each_kind(lambda entry: True)


def clear() -> list[Content]:
    """Remove all that has the name of a cached file, and say what that was.

    A link or a folder of such a name goes, too, whoever owns it; links are not followed. What is foreign stays, and
    what other processes need: locks, the secret, files that are being written and executables that are about to run.
    What else they want they compile again.

    Raises:
        UnsafeCacheError: as `contents` does.
    """
    return _each_kind(_removed)


def _removed(entry: _Entry) -> bool:
    if 0 <= time.time() - entry.status.st_mtime < entry.kind.in_use:
        return False
    try:
        if stat.S_ISDIR(entry.status.st_mode):
            shutil.rmtree(entry.name, dir_fd=entry.folder)
        else:
            os.unlink(entry.name, dir_fd=entry.folder)
    except OSError:  # another process was first, or it may not be removed
        return False
    return True


def _each_kind(counts: Callable[[_Entry], bool]) -> list[Content]:
    root = existing_cache()
    return [_content(name, root / name, counts) for name in KINDS if root and os.path.lexists(root / name)]


def _content(kind: str, folder: Path, counts: Callable[[_Entry], bool]) -> Content:
    """The files of a kind that `counts` counts, and what is foreign."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # a link, or no folder
        return Content(kind, 0, 0, 1)
    sizes, foreign = [], 0
    try:
        for parent, folders, files, opened in os.fwalk(".", dir_fd=descriptor):
            for name in [*folders, *files]:
                path = f"{parent}/{name}"[2:]
                try:
                    status = os.stat(name, dir_fd=opened, follow_symlinks=False)
                except FileNotFoundError:  # removed meanwhile
                    continue
                if not re.fullmatch(KINDS[kind].names, path):
                    foreign += not (stat.S_ISDIR(status.st_mode) or _WORKING.fullmatch(path))
                    continue
                if counts(_Entry(KINDS[kind], name, opened, status)):
                    sizes.append(status.st_size)
                if name in folders:
                    folders.remove(name)  # which is not looked into
    finally:
        os.close(descriptor)
    return Content(kind, len(sizes), sum(sizes), foreign)
