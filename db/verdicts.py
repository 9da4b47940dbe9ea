"""Verdicts on whether programs have changed, in a file of the cache, as long as the generator's sources stay the same.

To emit a program takes milliseconds, and what ships has thousands. Each process reads the verdicts of those before it,
and adds its own as it ends.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from autotune.base import kept
from autotune.base.cache import cache_folder
from autotune.base.log import slow
from autotune.search_spaces.contract.generator import as_loaded, generator_digest

_GENERATORS, _MOST = 4, 10_000  # in the file: the newest ones, and the newest verdicts by each
_SOME = 50  # new verdicts, after which more are likely
_DIGITS = 16

_new: dict[str, str] = {}  # verdicts by this process


def verdict(asked: str, judged: Callable[[], str]) -> str:
    """Why a program has changed, empty if it has not: as a process of the same generator found, else as `judged` says.

    Args:
        asked: all that the verdict depends on beside the generator.
        judged: emits the program.
    """
    name = sha256(asked.encode()).hexdigest()[:_DIGITS]
    if name not in _known():
        _known()[name] = judged()
        if as_loaded():
            _note(name)
    return _known()[name]


def _note(name: str) -> None:
    """Have a verdict saved as the process ends."""
    if not _new:
        atexit.register(_save)
    if len(_new) == _SOME:
        slow.info("emitting the programs of records, once, to see which are others today")
    _new[name] = _known()[name]


@cache
def _known() -> dict[str, str]:
    """The verdicts by names; none of other processes where the sources have changed under this one."""
    return dict(_verdicts(kept.read(_file())).get(generator_digest(), {})) if as_loaded() else {}


def _save() -> None:
    def with_new(before: Any) -> dict[str, dict[str, str]]:
        all_verdicts = _verdicts(before)
        merged = all_verdicts.pop(generator_digest(), {}) | _new
        newest = [*all_verdicts.items()][1 - _GENERATORS :]
        return dict([*newest, (generator_digest(), dict([*merged.items()][-_MOST:]))])

    with suppress(OSError):  # no command fails because a disk is full
        kept.change(_file(), with_new)


def _verdicts(document: Any) -> dict[str, dict[str, str]]:
    """The verdicts by generators in a document; none if there is no document, or if it is damaged."""
    whole = isinstance(document, dict) and all(
        isinstance(verdicts, dict) and all(isinstance(one, str) for one in verdicts.values())
        for verdicts in document.values()
    )
    return document if whole else {}


def _file() -> Path:
    return cache_folder("verdicts") / "verdicts.json"
