"""Settings of the dispatcher, for all calls of a program."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .lock.lock import Lock


@dataclass
class Settings:
    """The settings; see `configure`.

    Attributes:
        tune: what is done for problems without a record; see `configure`.
        device: the GPU that tunes; None for any that is idle.
        never_worse_than: the baseline that serves if it was faster than the record; None if no baseline may serve.
        lock: the file that says what serves; None for the one that the environment names.
        strict: whether what it does not say is an error; None for what the environment says.
    """

    tune: str = "never"
    device: int | None = None
    never_worse_than: str | None = None
    lock: Path | None = None
    strict: bool | None = None


settings = Settings()

_TUNE = ("never", "background", "first-call")


def configure(
    *,
    tune: str = "never",
    device: int | None = None,
    never_worse_than: str | None = None,
    lock: str | os.PathLike[str] | None = None,
    strict: bool | None = None,
) -> None:
    """Set what else the dispatcher may do. Arguments that are left out are reset to their defaults.

    Problems that have a plan already keep it.

    Args:
        tune: ``never``; or ``background``: a call whose problem has no record starts ``autotune tune --untuned`` in
            another process, one at a time. The next process uses the result. Or ``first-call``: the first call of such
            a problem measures its three best candidates, and the library that `never_worse_than` names, on its own
            operands, for at most 50 ms; the result serves from then on. That is not done in a capture, nor where
            operands are updated.
        device: the ordinal of the GPU that tunes; by default an idle one of the same model.
        never_worse_than: a baseline that some operators can call in place of a kernel, such as ``cublas``. It computes
            the problems for which ``autotune bench <operator> --record`` found it faster than the record. By default no
            baseline serves.
        lock: a file that ``autotune lock`` wrote: its schedules serve, as the machine code that it names. By default
            the one that ``AUTOTUNE_LOCK`` names, if any.
        strict: whether another choice, or to compile, is a `LockError`; else it is a warning. By default it is an
            error, unless ``AUTOTUNE_LOCK_STRICT=0``.

    Raises:
        TypeError, ValueError: another value.
        LockError: the file is no lock.
    """
    if tune not in _TUNE:
        raise ValueError(f"tune={tune!r}: expected {', '.join(map(repr, _TUNE))}")
    if never_worse_than is not None and never_worse_than not in (known := _substitutes()):
        raise ValueError(f"never_worse_than={never_worse_than!r}: expected {', '.join(map(repr, known))} or None")
    if device is not None and type(device) is not int:
        raise TypeError(f"device={device!r}: expected the number of a GPU, or None")
    if device is not None and device < 0:
        raise ValueError(f"device={device}: expected the number of a GPU, 0 or more, or None")
    if not isinstance(strict, bool | None):
        raise TypeError(f"strict={strict!r}: expected True, False or None")
    settings.lock = None if lock is None else _lock(lock).path
    settings.strict = strict
    settings.tune = tune
    settings.device = device
    settings.never_worse_than = never_worse_than


def lock_in_force() -> Lock | None:
    """The lock that the program or the environment names, if any; `LockError` if it is none."""
    named = settings.lock or os.environ.get("AUTOTUNE_LOCK")
    return _lock(named) if named else None


def strictly_locked() -> bool:
    """Whether what a lock does not say is an error."""
    return os.environ.get("AUTOTUNE_LOCK_STRICT") != "0" if settings.strict is None else settings.strict


def indices_are_checked() -> bool:
    """Whether the environment asks for a look at all indices before each launch."""
    return os.environ.get("AUTOTUNE_CHECK", "0") not in ("", "0")


def _lock(path: str | os.PathLike[str]) -> Lock:
    from .lock.lock import opened

    return opened(Path(path).absolute())


def _substitutes() -> list[str]:
    from autotune.search_spaces.contract.registry import OPERATORS

    return sorted({name for operator in OPERATORS.values() for name in operator.substitutes})
