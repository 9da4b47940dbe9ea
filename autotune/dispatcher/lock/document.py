"""The file of a lock. It comes from elsewhere: all that it states is checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from reprlib import repr as short
from typing import Any, NamedTuple

from autotune.base.errors import AutotuneError
from autotune.base.version import own_version
from autotune.codegen.model.fields import invalid_fields
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.checks import checked_members
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec

_VERSION = 1
_MOST_BYTES = 64 << 20  # a hundred thousand problems
_MOST_MODULES = 64  # of one program
_DIGEST = re.compile("[0-9a-f]{64}")
_TOP = ("version", "autotune", "compiler", "device", "choices")
_OWN = ("operator", "problem", "schedule", "program", "cubins")


class LockError(AutotuneError, RuntimeError):
    """A lock that cannot be used, or what a program may not do under it; the message is one line."""


@dataclass(frozen=True)
class Locked:
    """What serves a problem.

    Attributes:
        operator, problem, schedule: what is computed, and how.
        program: the digest of what the schedule emits.
        cubins: SHA-256 of the machine code of each of its modules.
    """

    operator: Operator[Any, Any]
    problem: Problem
    schedule: Schedule
    program: str
    cubins: tuple[str, ...]

    @property
    def title(self) -> str:
        """The problem in messages."""
        return f"{self.operator.name} {self.problem.key}"


class Document(NamedTuple):
    """What is in the file of a lock.

    Attributes:
        autotune, compiler: the versions that made it.
        spec: the limits of the device that it is for.
        choices: what serves, by the operator's name and the problem.
    """

    autotune: str
    compiler: str
    spec: DeviceSpec
    choices: Mapping[tuple[str, Problem], Locked]


def write(path: Path, compiler: str, spec: DeviceSpec, choices: Iterable[Locked]) -> None:
    """Write a lock by a rename, its choices sorted, so that two of the same choices are equal.

    Raises:
        OSError: the file cannot be written.
    """
    from autotune.db.exchange import write_document

    ordered = sorted(choices, key=lambda one: (one.operator.name, one.problem.key))
    header = dict(zip(_TOP, (_VERSION, own_version(), compiler, asdict(spec)), strict=False))
    write_document(path, {**header, "choices": [_plain(one) for one in ordered]})


def read(path: Path) -> Document:
    """What the file states.

    Raises:
        LockError: it is no lock, or states what cannot be; the message says where.
        OSError: it cannot be read.
    """
    from autotune.db.exchange import read_document

    try:
        top = checked_members(read_document(path, _MOST_BYTES), "a lock", _TOP)
        if top["version"] != _VERSION:
            raise ValueError(f"version {short(top['version'])}: expected {_VERSION}")
        by, compiler = (_text(name, top[name]) for name in ("autotune", "compiler"))
        if not isinstance(top["device"], dict) or not isinstance(top["choices"], list):
            raise ValueError("device and choices: expected an object and a list")
        choices: dict[tuple[str, Problem], Locked] = {}
        for number, values in enumerate(top["choices"]):
            one = _checked(number, values)
            if choices.setdefault((one.operator.name, one.problem), one) is not one:
                raise ValueError(f"choices[{number}]: {one.title} is there twice")
        return Document(by, compiler, device_spec(top["device"]), choices)
    except ValueError as error:
        prefix = "" if str(error).startswith(str(path)) else f"{path}: "
        raise LockError(f"{prefix}{error}") from None


def _plain(one: Locked) -> dict[str, Any]:
    values = (one.operator.name, one.problem.to_dict(), one.schedule.to_dict(), one.program, list(one.cubins))
    return dict(zip(_OWN, values, strict=True))


def _checked(number: int, values: Any) -> Locked:
    try:
        return _locked(checked_members(values, "a choice", _OWN))
    except ValueError as error:
        raise ValueError(f"choices[{number}]: {error}") from None


def _locked(values: Mapping[str, Any]) -> Locked:
    operator = registered(_text("operator", values["operator"]))
    for name in ("problem", "schedule"):
        if not isinstance(values[name], dict):
            raise ValueError(f"{name}={short(values[name])}: expected an object")
    problem, schedule = operator.problem_type.from_dict(values["problem"]), operator.schedule(values["schedule"])
    for name, value, why in invalid_fields(schedule):
        raise ValueError(f"{name}={short(value)} of the schedule: {why}")
    cubins = values["cubins"]
    if not isinstance(cubins, list) or not 1 <= len(cubins) <= _MOST_MODULES:
        raise ValueError(f"cubins={short(cubins)}: expected a list of 1 … {_MOST_MODULES} digests")
    program, *digests = (_digest(digest) for digest in (values["program"], *cubins))
    return Locked(operator, problem, schedule, program, tuple(digests))


def _text(name: str, value: Any) -> str:
    if not (isinstance(value, str) and value.isprintable() and len(value) <= 100):
        raise ValueError(f"{name}={short(value)}: expected a printable name")
    return value


def _digest(value: Any) -> str:
    """Digests are names of files, so nothing else may pass."""
    if not (isinstance(value, str) and _DIGEST.fullmatch(value)):
        raise ValueError(f"{short(value)}: expected a digest of 64 hexadecimal digits")
    return value
