"""Members of JSON files, which anyone may have written."""

from __future__ import annotations

from typing import Any


def member(values: Any, name: str, kind: type[Any]) -> Any:
    """A member of an object.

    Raises:
        ValueError: it is no object, or has no such member of that type.
    """
    value = values.get(name) if isinstance(values, dict) else None
    if not isinstance(value, kind):
        raise ValueError(f"expected an object with a member {name}, a {kind.__name__}")
    return value


def text(values: Any, name: str) -> str:
    """A member that is text; raises as `member`."""
    found: str = member(values, name, str)
    return found
