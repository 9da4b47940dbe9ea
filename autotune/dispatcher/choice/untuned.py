"""Untuned calls: problems without a record of their own, and how often they were called, in a file of the cache."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from autotune.base.cache import cache_folder, own_content, own_place
from autotune.base.locks import lock
from autotune.codegen.model.problem import Problem

_MOST = 1000  # problems in the file, the most called ones


class UntunedCall(NamedTuple):
    """A problem without a record of its own, and how often it was called.

    Attributes:
        operator, device: the operator's name, and the device model.
        problem: the problem's fields.
        calls: of all processes so far.
    """

    operator: str
    device: str
    problem: Mapping[str, Any]
    calls: int


_TYPES = (str, str, dict, int)  # types of the members, as JSON has them


class Counted(Protocol):
    """What counts its calls while it serves a problem."""

    problem: Problem
    calls: int


class _Noted:
    """A plan of this process, and how many of its calls are in the file."""

    def __init__(self, operator: str, device: str, plan: Counted) -> None:
        self.operator, self.device, self.plan = operator, device, plan
        self.saved = 0

    def unsaved(self) -> UntunedCall:
        calls = self.plan.calls - self.saved
        self.saved += calls
        return UntunedCall(self.operator, self.device, self.plan.problem.to_dict(), calls)


_noted: list[_Noted] = []


def note(operator: str, device: str, plan: Counted) -> None:
    """Count a plan's calls as untuned: its calls so far are written now, later ones when the process ends."""
    if not _noted:
        atexit.register(_save)
    _noted.append(_Noted(operator, device, plan))
    _save()


def untuned_calls(operator: str, device: str) -> list[UntunedCall]:
    """The untuned calls of an operator on a device model, most called first."""
    return [call for call in _read(_file()) if (call.operator, call.device) == (operator, device)]


def _save() -> None:
    # No call may fail because a disk is full.
    with suppress(OSError):
        path = _file()
        with lock(path.with_suffix(".lock")):
            _write(path, [*_read(path), *(noted.unsaved() for noted in _noted)])


def _write(path: Path, found: Iterable[UntunedCall]) -> None:
    from autotune.db.exchange import write_document

    merged: dict[str, UntunedCall] = {}
    for call in found:
        key = json.dumps(call[:3], sort_keys=True)
        before = merged.get(key)
        merged[key] = call._replace(calls=call.calls + before.calls) if before else call
    most = sorted(merged.values(), key=lambda call: -call.calls)[:_MOST]
    write_document(own_place(path), {"untuned": [call._asdict() for call in most]})


def _read(path: Path) -> list[UntunedCall]:
    """The untuned calls in a file; none if there is no file, or if it is damaged."""
    try:
        found = [UntunedCall(**call) for call in json.loads(own_content(path))["untuned"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return found if all(tuple(map(type, call)) == _TYPES for call in found) else []


def _file() -> Path:
    return cache_folder("untuned") / "untuned.json"


os.register_at_fork(after_in_child=_noted.clear)  # the parent saves its own
