"""Plain values, as databases hold and users give them, as the fields of problems and schedules."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING
from dataclasses import fields as dataclass_fields
from enum import StrEnum
from functools import cache
from typing import Any

from .fields import field_specs, field_type


def checked_fields(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Check plain values against a dataclass' fields, whose types are ``int``, ``bool`` or a ``StrEnum``.

    Names of earlier releases are taken for the present ones.

    Raises:
        ValueError: one line that names the field, the value and what is allowed.
    """
    values = _upgraded(cls, values)
    known = _types(cls)
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r} of {cls.__name__}; known: {', '.join(known)}")
    checked: dict[str, Any] = {}
    for name, (kind, required) in known.items():
        if name not in values:
            if required:
                raise ValueError(f"field {name!r} of {cls.__name__} is missing")
            continue
        checked[name] = _checked(cls, name, kind, values[name])
    return checked


def _upgraded(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Stored values of a problem or a schedule under the present names of their fields, by the class' `renamed`.

    Raises:
        ValueError: a field is given under its old name and under its new one.
    """
    renamed: Mapping[str, str] = getattr(cls, "renamed", {})
    for old in renamed.keys() & values.keys():
        if renamed[old] in values:
            raise ValueError(f"field {old!r} of {cls.__name__} is called {renamed[old]!r} now; give one of them")
    return {renamed.get(name, name): value for name, value in values.items()}


@cache
def _types(cls: type[Any]) -> dict[str, tuple[type, bool]]:
    """The type of each field, and whether it has to be given: found out once, for a search reads thousands."""
    return {field.name: (field_type(field), field.default is MISSING) for field in dataclass_fields(cls)}


def _checked(cls: type, name: str, kind: type, value: Any) -> Any:
    if issubclass(kind, StrEnum):
        with suppress(ValueError):
            return kind(value)
        allowed = field_specs(cls)[name].allowed or kind
        raise ValueError(f"{name}={value!r} of {cls.__name__}: expected one of {', '.join(map(str, allowed))}")
    if type(value) is not kind:
        raise ValueError(f"{name}={value!r} of {cls.__name__}: expected {kind.__name__}")
    return value
