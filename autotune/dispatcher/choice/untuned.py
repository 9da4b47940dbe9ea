"""Problems that calls asked for and that have no record of their own: how often, kept from process to process."""

from __future__ import annotations

import atexit
import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ...cache import cache_folder
from ...codegen.problem import Problem

_KEPT = 1000  # problems in the file, those that were called most


class Miss(NamedTuple):
    """A problem without a record, and how often it was called.

    Attributes:
        operator, device: the operator's name, and the device model.
        problem: the problem's fields.
        calls: of all processes so far.
    """

    operator: str
    device: str
    problem: Mapping[str, Any]
    calls: int


_TYPES = (str, str, dict, int)  # of the members, as JSON has them


class Counted(Protocol):
    """What counts its calls while it serves a problem."""

    problem: Problem
    calls: int


class _Noted:
    """A plan of this process, and how many of its calls are in the file."""

    def __init__(self, operator: str, device: str, plan: Counted) -> None:
        self.operator, self.device, self.plan = operator, device, plan
        self.saved = 0

    def unsaved(self) -> Miss:
        calls = self.plan.calls - self.saved
        self.saved += calls
        return Miss(self.operator, self.device, self.plan.problem.to_dict(), calls)


_noted: list[_Noted] = []


def note(operator: str, device: str, plan: Counted) -> None:
    """Count a plan's calls as misses: in the file from now on, with those so far, and again when the process ends."""
    if not _noted:
        atexit.register(_save)
    _noted.append(_Noted(operator, device, plan))
    _save()


def misses(operator: str, device: str) -> list[Miss]:
    """The misses of an operator on a device model, those that were called most first."""
    return [miss for miss in _read(_file()) if (miss.operator, miss.device) == (operator, device)]


def _save() -> None:
    # Nobody's call may fail because a disk is full.
    with suppress(OSError), _locked(_file()) as path:
        _write(path, [*_read(path), *(noted.unsaved() for noted in _noted)])


def _write(path: Path, found: Iterable[Miss]) -> None:
    from ...db.exchange import write_document

    merged: dict[str, Miss] = {}
    for miss in found:
        key = json.dumps(miss[:3], sort_keys=True)
        before = merged.get(key)
        merged[key] = miss._replace(calls=miss.calls + before.calls) if before else miss
    most = sorted(merged.values(), key=lambda miss: -miss.calls)[:_KEPT]
    write_document(path, {"misses": [miss._asdict() for miss in most]})


def _read(path: Path) -> list[Miss]:
    """The misses in a file; none if there is none, or if somebody damaged it."""
    try:
        found = [Miss(**miss) for miss in json.loads(path.read_text(encoding="utf-8"))["misses"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return found if all(tuple(map(type, miss)) == _TYPES for miss in found) else []


def _file() -> Path:
    return cache_folder("misses") / "misses.json"


@contextmanager
def _locked(path: Path) -> Iterator[Path]:
    """A file that no other process changes in the meantime."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield path


os.register_at_fork(after_in_child=_noted.clear)  # the parent saves its own
