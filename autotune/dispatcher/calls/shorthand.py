"""The functions that operators state beside their call, each of which is that call with some arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

from autotune.search_spaces.contract.registry import OPERATORS

from .function import dispatched


def shorthand(name: str) -> Callable[..., Any]:
    """The function of a name; ``ValueError`` if no operator states one."""
    for operator, stated in shorthands():
        if stated.__name__ == name:
            return _made(operator, stated)
    raise ValueError(f"no operator has a function {name!r}")


def shorthands() -> Iterator[tuple[str, Callable[..., Mapping[str, Any]]]]:
    """All that are stated, each after the name of its operator."""
    for name, operator in OPERATORS.items():
        for stated in operator.shorthands:
            yield name, stated


def _made(operator: str, stated: Callable[..., Mapping[str, Any]]) -> Callable[..., Any]:
    call = dispatched(operator).function

    @wraps(stated)
    def function(*arguments: Any, **options: Any) -> Any:
        return call(**stated(*arguments, **options))

    function.__module__ = call.__module__
    return function
