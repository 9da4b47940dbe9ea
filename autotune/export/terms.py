"""Numbers that follow from a problem's sizes, as rows of a table that C++ and Python evaluate alike."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.model.integers import logarithm

COMPUTE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": lambda one, other: float(one) ** other,
    "less": operator.lt,
    "equal": operator.eq,
    "minimum": min,
    "maximum": max,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "rint": lambda one, _: round(one),
    "ceil": lambda one, _: math.ceil(one),
    "logarithm": logarithm,
}  # as choose.hpp has them
NEVER = 1e30  # what a tree that leads to nothing counts as: of seconds and distances, more than any


class Terms:
    """The numbers of an export, each once.

    Attributes:
        most: what each size may be; 1 at least.
        rows: an operation and the rows of two numbers. Others are ``size`` and its position; ``constant``, its value
            and its type; ``leads`` and a tree, 1 if it leads to something; ``result`` and a tree that leads to a row.
    """

    def __init__(self, most: Mapping[str, int]) -> None:
        self.most = most
        self.rows: list[tuple[str, Any, Any]] = []
        self._known: dict[tuple[str, Any, Any], int] = {}

    def row(self, operation: str, left: Any, right: Any = 0) -> int:
        """The row of a number."""
        term = operation, left, right
        if term not in self._known:
            self._known[term] = len(self.rows)
            self.rows.append(term)
        return self._known[term]

    def constant(self, value: float) -> int:
        """The row of a number that does not follow from sizes."""
        return self.row("constant", value, type(value))


class Values(dict[int, Any]):
    """What the rows are for some sizes, each computed when it is asked for."""

    def __init__(self, terms: Terms, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.terms, self.sizes = terms, sizes
        self._sizes = list(sizes.values())

    def __missing__(self, row: int) -> Any:
        operation, left, right = self.terms.rows[row]
        if operation in COMPUTE:
            value = COMPUTE[operation](self[left], self[right])
        elif operation in ("leads", "result"):
            found = left.result(self)
            value = int(found is not None) if operation == "leads" else NEVER if found is None else self[found]
        else:
            value = self._sizes[left] if operation == "size" else left
        self[row] = value
        return value
