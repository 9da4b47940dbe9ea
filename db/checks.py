"""Checks of the values that the database stores: types, ranges, lengths, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from reprlib import repr as short
from typing import Any

NAME_LENGTH = 255
_LONGEST_SECONDS = 1e6
_MANY_DIGITS = re.compile(r"\d{19}")  # of a whole number that may need more than 64 bits


def check_seconds(name: str, value: Any) -> None:
    """Raise ``ValueError`` unless the value is a time."""
    if not (isinstance(value, float) and 0 < value < _LONGEST_SECONDS):
        raise ValueError(f"{name} {short(value)}: expected seconds, a float above 0 and below 1e6")


def check_name(name: str, value: Any) -> None:
    """Raise ``ValueError`` unless the value is text of 1 to `NAME_LENGTH` characters."""
    check_text(name, value, NAME_LENGTH)
    if not value:
        raise ValueError(f"{name} is empty: expected a name")


def check_text(name: str, value: Any, longest: int | None = None) -> None:
    """Raise ``ValueError`` unless the value is text that every database can store."""
    if not isinstance(value, str):
        raise ValueError(f"{name}={short(value)}: expected text")
    if longest is not None and len(value) > longest:
        raise ValueError(f"{name}={short(value)} has {len(value)} characters: expected at most {longest}")
    if "\0" in value or not _encodes(value):
        raise ValueError(f"{name}={short(value)}: expected Unicode text without NUL or lone surrogates")


def check_json(name: str, value: Any) -> None:
    """Raise ``ValueError`` unless the value is an object of JSON values."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}={short(value)}: expected an object of JSON values")
    try:
        # Most values have no number of so many digits, and to walk through all of them takes ten times as long.
        large = _MANY_DIGITS.search(json.dumps(dict(value), allow_nan=False)) and _large(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name}={short(value)}: not an object of JSON values ({error})") from None
    if large:
        raise ValueError(f"{name}={short(value)}: expected whole numbers of 64 bits")


def checked_members(values: Any, what: str, names: tuple[str, ...]) -> dict[str, Any]:
    """An object's members; ``ValueError`` unless it is one that has these and no others."""
    if not isinstance(values, Mapping) or set(values) != set(names):
        got = ", ".join(map(short, values)) if isinstance(values, Mapping) and values else short(values)
        raise ValueError(f"{what} has {', '.join(names)}; got {got}")
    return dict(values)


def finite_or_none(name: str, value: Any) -> float | None:
    """A float of at least 0; None where it is not finite, since neither JSON nor every database stores those.

    Raises:
        ValueError: anything else.
    """
    if value is None:
        return None
    if not isinstance(value, float) or value < 0:
        raise ValueError(f"{name}={short(value)}: expected a float of at least 0, or none")
    return value if isfinite(value) else None


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _large(value: Any) -> bool:
    """Whether there is a whole number that not every reader of JSON can hold."""
    if isinstance(value, Mapping):
        return any(map(_large, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_large, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63
