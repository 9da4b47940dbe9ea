"""Who else could exchange what a path names: every folder above it is asked for, as sshd does with ``StrictModes``."""

from __future__ import annotations

import errno
import grp
import os
import pwd
import stat
from functools import cache
from pathlib import Path

from .errors import AutotuneError

_MOST_LINKS = 40  # links of one path, as Linux has it


class UnsafeCacheError(AutotuneError, OSError):
    """A folder or a file of the cache that others could change; `strerror` names the remedy."""


def check_trusted(path: Path) -> None:
    """Check that a path, each folder above it and each link on the way belong to this user or to root.

    Others may write to none of these folders, unless its sticky bit keeps them from moving what they do not own, as in
    ``/tmp``. A group counts as others unless it is this user's own.

    Raises:
        UnsafeCacheError: somebody else could exchange what is there.
        OSError: it is not there.
    """
    current, waiting, links = Path("/"), list(reversed(path.absolute().parts[1:])), 0
    _check(current)
    while waiting:
        name = waiting.pop()
        entry = current.parent if name == ".." else current / name
        if stat.S_ISLNK(_check(entry).st_mode):
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            target = entry.readlink()
            waiting += reversed([part for part in target.parts if part != "/"])
            current = Path("/") if target.is_absolute() else current
        else:
            current = entry


def _check(path: Path) -> os.stat_result:
    status = path.lstat()
    if status.st_uid not in (os.geteuid(), 0):
        raise UnsafeCacheError(errno.EPERM, "it belongs to somebody else: set AUTOTUNE_CACHE", str(path))
    if not stat.S_ISLNK(status.st_mode) and others_write(status) and not status.st_mode & stat.S_ISVTX:
        raise UnsafeCacheError(errno.EPERM, "others may write to it: set AUTOTUNE_CACHE", str(path))
    return status


def others_write(status: os.stat_result) -> bool:
    """Whether a user who is neither its owner nor root may write to it."""
    group = bool(status.st_mode & stat.S_IWGRP) and not _is_of_this_user_alone(status.st_gid)
    return group or bool(status.st_mode & stat.S_IWOTH)


@cache
def _is_of_this_user_alone(group: int) -> bool:
    """Whether a group is the private one that many systems make for each user, which may then write by default."""
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
