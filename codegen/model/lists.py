"""Names of the elements of lists of arrays: ``x[0]``, ``x[1]``, … are those of the list ``x``.

Each element is a tensor of its own, a pointer of ``struct Arguments``, and a name in messages. What kernels take for
each of them, such as its length, is named likewise.
"""

from __future__ import annotations

from collections.abc import Iterable


def element(name: str, number: int) -> str:
    """The name of an element of a list."""
    return f"{name}[{number}]"


def list_of(name: str) -> str:
    """The list that an element is of; any other name as it is."""
    return name.partition("[")[0]


def is_element(name: str) -> bool:
    """Whether it is the name of an element."""
    return "[" in name


def suffixed(name: str, suffix: str) -> str:
    """The name of what goes with a tensor: ``y_scale`` of y, ``y_scale[3]`` of the element ``y[3]``."""
    whole, bracket, number = name.partition("[")
    return f"{whole}{suffix}{bracket}{number}"


def member(name: str) -> str:
    """The name as an identifier of Python and C++, such as ``x_3_`` for ``x[3]``."""
    return name.replace("[", "_").replace("]", "_")


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """The names by the list that they are elements of; others by themselves."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(list_of(name), []).append(name)
    return groups
