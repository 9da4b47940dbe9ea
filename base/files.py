"""Files that readers see whole: the old one or the new one, never half of one."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """A temporary path to write to, which is renamed to `path` at the end.

    An existing file keeps its mode, and a link stays: what it names is written. A device or a pipe is written to
    directly.

    Raises:
        OSError: the file cannot be written; the old one is unchanged.
    """
    target = checked_target(path)
    if target.exists() and not target.is_file():
        yield target
        return
    with locked_folder(target) as folder:
        written = folder / target.name
        try:
            yield written
        except OSError as error:
            if error.filename in (None, str(written)):  # a disk that is full has no name there
                raise OSError(error.errno, error.strerror, str(path)) from error
            raise
        with suppress(FileNotFoundError):
            written.chmod(target.stat().st_mode & 0o777)
        written.replace(target)


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder from a folder of ours, whoever owns it.

    Raises:
        OSError: it is not there, or its folder is not ours.
    """
    if not stat.S_ISDIR(path.lstat().st_mode):
        path.unlink()
        return
    with locked_folder(path) as folder:  # in which what cannot be deleted stays, out of the way
        path.rename(folder / path.name)


def read_regular(path: Path, most: int) -> bytes:
    """The content of a file, of so many bytes at most: no device or pipe, which may never end.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no regular file, or too long.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is no regular file")
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{path} has over {most} bytes")
    return content


def write_text(path: Path, text: str) -> None:
    """Write a whole file by `atomic_write`."""
    with atomic_write(path) as written:
        written.write_text(text, encoding="utf-8")


def checked_target(path: Path) -> Path:
    """The file that a path names, with its links followed, or a device or a pipe.

    Raises:
        OSError: it has no folder to be in, it is a folder itself, or it may not be written.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        return path
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}", str(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder: name a file", str(path))
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


def sweep(folder: Path) -> None:
    """Delete what each `locked_folder` of processes that were killed left in a folder."""
    for path in folder.iterdir():
        if path.name.startswith("."):
            with suppress(OSError):  # a file, or the folder of a process that is writing, or sweeping too
                descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(path)
                finally:
                    os.close(descriptor)


@contextmanager
def locked_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside a file; `sweep` leaves it alone while this process lives, whose end ends the lock."""
    folder, descriptor = _made_folder(path)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _made_folder(path: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor that has its lock."""
    while True:
        try:
            folder = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name[:64]}."))
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        with suppress(FileNotFoundError):  # swept before it was locked
            descriptor = os.open(folder, os.O_RDONLY)
            if _locked(descriptor) and folder.exists():
                return folder, descriptor
            os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Lock a folder for this process; whether no other one has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nothing is swept
        return True
    return True
