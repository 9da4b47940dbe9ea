"""What is in the cache, by kind, and how to empty it while others use it."""

from __future__ import annotations

import os
import re
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
    "cubins": Kind("compiled kernels", rf"entries/{_DIGITS}+/{_DIGITS}+"),
    "emulator": Kind("kernels for the emulator", rf"(runtime-)?{_DIGITS}{{32}}(\.o)?", _IN_USE),
    "failures": Kind("failure reports", rf"\w+-{_DIGITS}{{16}}-{_DIGITS}{{8}}\.json"),
    "records": Kind("snapshots of databases", rf"{_DIGITS}{{32}}\.json"),
    "sources": Kind("sources of winners", rf"\w+-{_DIGITS}{{16}}\.cu"),
    "untuned": Kind("untuned calls", r"untuned\.json"),
}


@dataclass(frozen=True)
class Content:
    """Files of one kind.

    Attributes:
        kind: a name in `KINDS`.
        files, bytes: how many, and of what size together.
        foreign: files and links in its folder that autotune did not write, or that belong to somebody else.
    """

    kind: str
    files: int
    bytes: int
    foreign: int


class _File(NamedTuple):
    """A file in the folder that a descriptor is open on."""

    kind: Kind
    name: str
    folder: int
    status: os.stat_result


def contents() -> list[Content]:
    """What is in the cache, by kind; kinds that were never used are left out.

    Raises:
        UnsafeCacheError: the cache belongs to somebody else, or others may write to it.
    """
    return _each_kind(lambda file: True)


def clear() -> list[Content]:
    """Remove what autotune wrote, and say what that was.

    Links are not followed. What is foreign stays, and what other processes need: locks, the secret, files that are
    being written and executables that are about to run. What else they want they compile again.

    Raises:
        UnsafeCacheError: as `contents` does.
    """
    return _each_kind(_removed)


def _removed(file: _File) -> bool:
    if time.time() - file.status.st_mtime < file.kind.in_use:
        return False
    try:
        os.unlink(file.name, dir_fd=file.folder)
    except OSError:  # another process was first, or it may not be removed
        return False
    return True


def _each_kind(counts: Callable[[_File], bool]) -> list[Content]:
    root = existing_cache()
    return [_content(name, root / name, counts) for name in KINDS if root and os.path.lexists(root / name)]


def _content(kind: str, folder: Path, counts: Callable[[_File], bool]) -> Content:
    """The files of a kind that `counts` counts, and those that are foreign."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # a link, or no folder
        return Content(kind, 0, 0, 1)
    sizes, foreign = [], 0
    try:
        for parent, _, names, opened in os.fwalk(".", dir_fd=descriptor):
            for name in names:
                path = f"{parent}/{name}"[2:]
                try:
                    status = os.stat(name, dir_fd=opened, follow_symlinks=False)
                except FileNotFoundError:  # removed meanwhile
                    continue
                if not _own(KINDS[kind], path, status):
                    foreign += not _WORKING.fullmatch(path)
                elif counts(_File(KINDS[kind], name, opened, status)):
                    sizes.append(status.st_size)
    finally:
        os.close(descriptor)
    return Content(kind, len(sizes), sum(sizes), foreign)


def _own(kind: Kind, path: str, status: os.stat_result) -> bool:
    """Whether autotune wrote a file for this user."""
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and bool(re.fullmatch(kind.names, path))
