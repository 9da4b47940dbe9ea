"""The problems that programs called, and how often, in a file of the cache: what to tune, and what to lock."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from autotune.base import kept
from autotune.base.cache import cache_folder
from autotune.codegen.model.problem import Problem

_MOST = 1000  # problems of each kind in the file, the most called ones


class CalledProblem(NamedTuple):
    """A problem that programs called, and how often.

    Attributes:
        operator, device: the operator whose kernel serves, and the device model.
        problem: the problem's fields.
        untuned: whether a GPU computed it without a record of its own.
        calls: of all processes so far.
    """

    operator: str
    device: str
    problem: Mapping[str, Any]
    untuned: bool
    calls: int


_TYPES = (str, str, dict, bool, int)  # types of the members, as JSON has them


class Counted(Protocol):
    """What counts its calls while it serves a problem."""

    problem: Problem
    calls: int


class _Noted:
    """A plan of this process, and how many of its calls are in the file."""

    def __init__(self, operator: str, device: str, plan: Counted, untuned: bool) -> None:
        self.operator, self.device, self.plan, self.untuned = operator, device, plan, untuned
        self.saved = 0

    def unsaved(self) -> CalledProblem:
        calls = self.plan.calls - self.saved
        self.saved += calls
        return CalledProblem(self.operator, self.device, self.plan.problem.to_dict(), self.untuned, calls)


_noted: list[_Noted] = []


def note(operator: str, device: str, plan: Counted, *, untuned: bool, at_once: bool) -> None:
    """Count a plan's calls: its calls so far are written now or, as later ones are, when the process ends."""
    if not _noted:
        atexit.register(_save)
    _noted.append(_Noted(operator, device, plan, untuned))
    if at_once:
        _save()


def called_problems(device: str) -> list[CalledProblem]:
    """The problems that were called on a device model, most called first."""
    found = [call for call in _calls(kept.read(_file())) if call.device == device]
    return sorted(found, key=lambda call: -call.calls)


def untuned_calls(operator: str, device: str) -> list[CalledProblem]:
    """Those of an operator that had no record, most called first."""
    return [call for call in called_problems(device) if call.untuned and call.operator == operator]


def _save() -> None:
    # No call may fail because a disk is full.
    with suppress(OSError):
        kept.change(_file(), lambda before: _document([*_calls(before), *(noted.unsaved() for noted in _noted)]))


def _document(found: Iterable[CalledProblem]) -> dict[str, Any]:
    merged: dict[str, CalledProblem] = {}
    for call in found:
        key = json.dumps(call[:3], sort_keys=True)
        before = merged.get(key, call._replace(calls=0))
        merged[key] = call._replace(calls=call.calls + before.calls, untuned=call.untuned or before.untuned)
    ordered = sorted(merged.values(), key=lambda call: -call.calls)
    most = [one for kind in (True, False) for one in [call for call in ordered if call.untuned is kind][:_MOST]]
    return {"called": [call._asdict() for call in most]}


def _calls(document: Any) -> list[CalledProblem]:
    """The problems in a document; none if there is no document, or if it is damaged."""
    try:
        found = [CalledProblem(**call) for call in document["called"]]
    except (KeyError, TypeError):
        return []
    return found if all(tuple(map(type, call)) == _TYPES for call in found) else []


def _file() -> Path:
    return cache_folder("called") / "called.json"


os.register_at_fork(after_in_child=_noted.clear)  # the parent saves its own
