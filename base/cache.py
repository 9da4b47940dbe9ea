"""The cache: folders that nobody else may enter, and the seals that show whether a cached file is ours and intact."""

from __future__ import annotations

import errno
import hmac
import os
import stat
import warnings
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path

import platformdirs

from .files import atomic_write, remove, sweep
from .locks import lock
from .temporary_cache import temporary_root
from .trusted_path import UnsafeCacheError, check_trusted

SEAL_BYTES = sha256().digest_size
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder(name: str) -> Path:
    """The cache's folder of that name, made if missing; ``AUTOTUNE_CACHE`` moves the whole cache.

    Where it cannot be written, in a read-only home for example, a temporary one serves until the process ends. Where
    others could write to it, the same, with a warning: a cached kernel is code that runs as whoever loads it.
    """
    try:
        if not _given_up:
            return checked_cache_folder(name)
    except UnsafeCacheError as error:
        _warn(f"{error.filename}: {error.strerror}; a temporary cache serves until this process ends")
    except OSError:
        pass
    return _made_private(temporary_root() / name)


def give_up_cache(error: OSError) -> bool:
    """Let a temporary cache serve from now on, since the cache has no room; whether it did until now."""
    global _given_up
    before, _given_up = _given_up, True
    if not before:
        _warn(f"{error.filename}: {error.strerror}; a temporary cache serves until this process ends")
    return not before


_given_up = False


def temporary_cache() -> Path | None:
    """The temporary cache that serves in place of one that cannot be used; None where that can."""
    try:
        _made_private(_configured_root())
    except OSError:
        return temporary_root()
    return temporary_root() if _given_up else None


def checked_cache_folder(name: str) -> Path:
    """`cache_folder`, never a temporary one.

    Raises:
        OSError: it cannot be made or written; `UnsafeCacheError` if others could write to it.
    """
    folder = _made_private(_made_private(_configured_root()) / name)
    _sweep(folder)
    return folder


def existing_cache() -> Path | None:
    """The cache's folder; None if there is none yet.

    Raises:
        UnsafeCacheError: it belongs to somebody else, or others may write to it.
    """
    root = _configured_root()
    return _made_private(root) if root.exists() else None


def seal(key: bytes, content: bytes) -> bytes:
    """A digest of an entry's key and content, by a secret of the cache's owner.

    Kept beside the content, it tells what is damaged, another key's, or put there by somebody else.
    """
    return hmac.digest(_secret(), key + content, "sha256")


def own_content(path: Path) -> bytes:
    """What is in a file of the cache.

    Raises:
        OSError: it cannot be read; `UnsafeCacheError` if it is a link, or if others could change it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnsafeCacheError(errno.EPERM, "it is a link: remove it", str(path)) from None
        raise
    if not _is_own(os.fstat(descriptor)):
        os.close(descriptor)
        raise UnsafeCacheError(errno.EPERM, "others could change it: remove it", str(path))
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def own_place(path: Path) -> Path:
    """A path in a folder of the cache, once it is free of what others could change: such files, links and folders go.

    Raises:
        OSError: it cannot be removed.
    """
    with suppress(FileNotFoundError):
        if not _is_own(path.lstat()):
            remove(path)
    return path


def _is_own(status: os.stat_result) -> bool:
    mine = status.st_uid == os.geteuid() and not status.st_mode & _OTHERS_WRITE
    return mine and stat.S_ISREG(status.st_mode)


def keep_newest(folder: Path, most: int) -> None:
    """Of more than so many entries in a folder delete the oldest, and a tenth more, so that it is seldom done."""
    # Names, since to make a path of each takes as long as to read the folder: it is read after every kernel.
    entries = [entry.name for entry in os.scandir(folder) if not entry.name.startswith(".")]
    if len(entries) > most:
        for entry in sorted(map(folder.joinpath, entries), key=_changed_at)[: len(entries) - most + most // 10]:
            with suppress(OSError):  # another process does the same
                entry.unlink()


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _configured_root() -> Path:
    return Path(os.environ.get("AUTOTUNE_CACHE") or platformdirs.user_cache_dir("autotune", appauthor=False))


def _made_private(folder: Path) -> Path:
    """Make a folder for its owner alone; one that is there must be ours, and is closed to others who may write to it.

    Raises:
        OSError: it cannot be made or written; `UnsafeCacheError` if somebody else could exchange it.
    """
    for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    status = folder.stat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    if status.st_uid != os.geteuid():
        raise UnsafeCacheError(errno.EPERM, "it belongs to somebody else: set AUTOTUNE_CACHE", str(folder))
    if status.st_mode & _OTHERS_WRITE:
        if not status.st_mode & stat.S_ISVTX:  # such as /tmp, which is meant for all
            folder.chmod(0o700)
        if folder.stat().st_mode & _OTHERS_WRITE:
            raise UnsafeCacheError(errno.EPERM, "others may write to it: set AUTOTUNE_CACHE", str(folder))
    check_trusted(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    return folder


def _secret() -> bytes:
    """Random bytes that only the cache's owner can read, made with it; else the process' own."""
    try:
        root = _made_private(_configured_root())
        path = root / "secret"
        if found := _kept_secret(path):
            return found
        with lock(root / "secret.lock"):
            if found := _kept_secret(path):
                return found
            with atomic_write(own_place(path)) as written:
                written.touch(mode=0o600)
                written.write_bytes(os.urandom(SEAL_BYTES))
            return own_content(path)
    except TimeoutError as error:
        _warn(f"{error.filename}: {error.strerror}; nothing is taken from the cache")
    except OSError:
        pass
    return _process_secret()


def _kept_secret(path: Path) -> bytes | None:
    """The secret in a file; None if there is none, if others could know it, or if it is cut short."""
    with suppress(FileNotFoundError, UnsafeCacheError):
        if len(found := own_content(path)) == SEAL_BYTES:
            return found
    return None


@cache
def _process_secret() -> bytes:
    return os.urandom(SEAL_BYTES)


@cache
def _sweep(folder: Path) -> None:
    """Sweep a folder, once in a process."""
    with suppress(OSError):
        sweep(folder)


@cache
def _warn(message: str) -> None:
    """Warn once, and not from the workers of a process, which all find the same."""
    from multiprocessing import parent_process

    if parent_process() is None:
        warnings.warn(message, RuntimeWarning, stacklevel=4)
