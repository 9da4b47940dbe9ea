"""Arguments of a call that are lists of arrays: their elements one by one, by names such as ``x[0]``, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from autotune.codegen.model.lists import element, grouped
from autotune.search_spaces.contract.call import Call

T = TypeVar("T")


def check_lists(call: Call, named: Mapping[str, Any]) -> None:
    """Check that those arguments are lists that are; None stands for an output that is to be allocated.

    Raises:
        TypeError: one is no list.
        ValueError: one is empty.
    """
    for name in call.lists:
        given = named[name]
        if given is None and name in call.outputs:
            continue
        if not isinstance(given, list | tuple):
            raise TypeError(f"{name} is a {type(given).__name__}: expected a list or a tuple of arrays")
        if not given:
            raise ValueError(f"{name} is empty: expected one array or more")


def one_by_one(call: Call, named: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Names and values, the elements of lists by names of their own; what is left out is None."""
    if not call.lists:
        return list(named)
    found: list[tuple[str, Any]] = []
    for name, value in named:
        if name in call.lists and value is not None:
            found += [(element(name, number), one) for number, one in enumerate(value)]
        else:
            found.append((name, value))
    return found


def together(call: Call, values: Mapping[str, T]) -> dict[str, Any]:
    """The inverse: values by the names of a call's arguments, and lists of them."""
    if not call.lists:
        return dict(values)
    groups = grouped(values)
    return {
        name: [values[one] for one in names] if name in call.lists else values[name] for name, names in groups.items()
    }
