"""Numbers that follow from a problem's sizes, as rows of a table that C++ and Python evaluate alike."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.model.integers import logarithm

COMPUTE: dict[str, Callable[..., Any]] = {
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
    "rint": round,
    "ceil": math.ceil,
    "logarithm": logarithm,
}  # as choose.hpp has them


class Terms:
    """The numbers of an export, each once.

    Attributes:
        rows: an operation and the rows of its operands. Others are ``size`` and its name; ``constant``, its value
            and its type; ``select``, the second of three numbers where the first one is true, else the third.
    """

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def row(self, operation: str, *operands: Any) -> int:
        """The row of a number. Its operands have rows above it."""
        term = operation, *operands
        if term not in self._known:
            self._known[term] = len(self.rows)
            self.rows.append(term)
        return self._known[term]

    def constant(self, value: float | str) -> int:
        """The row of a number that does not follow from sizes, or of its name in C++."""
        return self.row("constant", value, type(value))


class Values(dict[int, Any]):
    """What the rows are for some sizes, each computed when it is asked for."""

    def __init__(self, terms: Terms, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.terms, self.sizes = terms, sizes

    def __missing__(self, row: int) -> Any:
        operation, *operands = self.terms.rows[row]
        while operation == "select":  # no call for each: a chain is longer than calls may be nested
            condition, yes, no = operands
            operation, *operands = self.terms.rows[yes if self[condition] else no]
        match operation:
            case "size":
                value = self.sizes[operands[0]]
            case "constant":
                value = operands[0]
            case _:
                value = COMPUTE[operation](*(self[one] for one in operands))
        self[row] = value
        return value
