"""Trials as a JSON document and back; a document from elsewhere is not trusted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from reprlib import repr as short
from typing import Any, TypeVar

from autotune.base.files import read_regular, write_text

from .checks import checked_members
from .comparison import BaselineTimes
from .packing import unpacked
from .renaming import key_of, renamed
from .states import Status, TimeSource
from .trials import DeviceRecord, ProblemRecord, Trial

VERSION = 2

E = TypeVar("E", bound=StrEnum)
R = TypeVar("R")


@dataclass(frozen=True)
class MergeCounts:
    """What a merge did with the document's trials: new ones, better ones, and those that were no better."""

    added: int = 0
    replaced: int = 0
    kept: int = 0


def to_document(trials: Iterable[Trial]) -> dict[str, Any]:
    """The document: devices and problems once each, and trials that refer to them by model, operator and key."""
    listed = list(trials)
    devices = {trial.device.model: trial.device for trial in listed}
    problems = {(trial.problem.operator, trial.problem.key): trial.problem for trial in listed}
    return {
        "version": VERSION,
        "devices": [asdict(devices[model]) for model in sorted(devices)],
        "problems": [asdict(problems[name]) for name in sorted(problems)],
        "trials": [_plain(trial) for trial in listed],
    }


def from_document(document: Any) -> list[Trial]:
    """The trials of a document, under the names that fields have today.

    Raises:
        ValueError: one line that says where the document is wrong.
    """
    version = document.get("version") if isinstance(document, Mapping) else None
    if version != VERSION:
        raise ValueError(f"not an export that this autotune reads: version {short(version)}, expected {VERSION}")
    top = checked_members(document, "the document", ("version", "devices", "problems", "trials"))
    lists = {name: unpacked(top[name]) for name in ("devices", "problems", "trials")}
    devices = {device.model: device for device in _each(lists["devices"], "devices", _device)}
    problems = {(problem.operator, problem.key): problem for problem in _each(lists["problems"], "problems", _problem)}
    return renamed(_each(lists["trials"], "trials", lambda values: _trial(values, devices, problems)))


def write_document(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document by a rename.

    Raises:
        OSError: the file cannot be written; what was there is still there.
    """
    write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


_MOST_BYTES = 1 << 30  # of a document: a million trials


def read_document(path: Path, most: int = _MOST_BYTES) -> Any:
    """The JSON value in a file of so many bytes at most, not yet checked.

    Raises:
        OSError: the file cannot be read.
        ValueError: one line, if it is not JSON, or no regular file of a reasonable size.
    """
    content = read_regular(path, most)
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a JSON file: {error}") from None


# Names of a trial's members in a document: its device and problem by name, the rest as the dataclass has them. Its run
# stays behind: the name of one means nothing elsewhere.
_REFERENCES = ("device", "operator", "key")
_OWN = tuple(field.name for field in fields(Trial) if field.name not in ("device", "problem", "run"))


def _plain(trial: Trial) -> dict[str, Any]:
    references = (trial.device.model, trial.problem.operator, trial.problem.key)
    own = {name: getattr(trial, name) for name in _OWN}
    changed = {
        "comparison": trial.comparison and trial.comparison.to_dict(),
        "created_at": trial.created_at.isoformat(),
    }
    return {**dict(zip(_REFERENCES, references, strict=True)), **own, **changed}


def _trial(
    values: Any, devices: Mapping[str, DeviceRecord], problems: Mapping[tuple[str, str], ProblemRecord]
) -> Trial:
    if isinstance(values, Mapping):
        values = {"machine_code_digest": "", **values}  # older documents do not tell it
    own = checked_members(values, "a trial", (*_REFERENCES, *_OWN))
    model, operator, key = (own.pop(name) for name in _REFERENCES)
    if not isinstance(model, str) or model not in devices:
        raise ValueError(f"device {short(model)} is not among the document's devices")
    if not (isinstance(operator, str) and isinstance(key, str)) or (operator, key) not in problems:
        raise ValueError(f"problem {short(operator)} {short(key)} is not among the document's problems")
    own["status"] = _member(Status, own["status"])
    own["time_source"] = _member(TimeSource, own["time_source"])
    own["samples"] = _tuple(own["samples"])
    own["created_at"] = _time(own["created_at"])
    if own["comparison"] is not None:
        own["comparison"] = BaselineTimes.from_dict(own["comparison"])
    return Trial(devices[model], problems[operator, key], **own)


def _device(values: Any) -> DeviceRecord:
    members = checked_members(values, "a device", tuple(field.name for field in fields(DeviceRecord)))
    return DeviceRecord(**{**members, "compute_capability": _tuple(members["compute_capability"])})


def _problem(values: Any) -> ProblemRecord:
    """A problem whose fields, if they have the names of today, are those that its key says."""
    problem = ProblemRecord(
        **checked_members(values, "a problem", tuple(field.name for field in fields(ProblemRecord)))
    )
    key = key_of(problem)
    if key not in (None, problem.key):
        raise ValueError(f"key {short(problem.key)}: its fields are those of {key}")
    return problem


def _each(values: Any, name: str, read: Callable[[Any], R]) -> list[R]:
    if not isinstance(values, list):
        raise ValueError(f"{name}={short(values)}: expected a list")
    result = []
    for index, value in enumerate(values):
        try:
            result.append(read(value))
        except ValueError as error:
            raise ValueError(f"{name}[{index}]: {error}") from None
    return result


def _member(kind: type[E], value: Any) -> E:
    allowed = [member.value for member in kind]
    if value not in allowed:
        raise ValueError(f"{short(value)} is none of {', '.join(allowed)}")
    return kind(value)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _time(value: Any) -> Any:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise ValueError(f"created_at={short(value)}: expected ISO 8601 with a time zone") from None
