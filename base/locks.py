"""Locks between this user's processes, by files that nobody else may have opened."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .files import remove

_SECONDS, _PAUSE = 60.0, 0.01  # all that is done under such a lock takes milliseconds
_NOT_THE_OWNER = stat.S_IRWXG | stat.S_IRWXO
_NOT_OURS = (errno.ELOOP, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ENXIO)  # a link, a folder, another's, a socket


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Let all other processes that lock this file wait meanwhile.

    A file that others could have opened, a link or a folder is replaced: whoever has it open could keep it locked.

    Raises:
        TimeoutError: another process had it for a minute.
        OSError: the file cannot be made or opened.
    """
    descriptor = _opened(path)
    try:
        _wait(descriptor, path)
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path) -> int:
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
        except OSError as error:  # such as no descriptor left: then the file stays, which others may have locked
            if error.errno not in _NOT_OURS:
                raise
        else:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & _NOT_THE_OWNER:
                return descriptor
            os.close(descriptor)
        remove(path)


def _wait(descriptor: int, path: Path) -> None:
    end = time.monotonic() + _SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                message = f"another process has locked it for {_SECONDS:.0f} s: end that process, or remove the file"
                raise TimeoutError(errno.ETIMEDOUT, message, str(path)) from None
            time.sleep(_PAUSE)
