"""What Python computes from a problem's sizes, and for which sizes it computes the same.

A function is called for some sizes, each of them a `Number`: its value, and how it follows from the sizes. What the
function asks of numbers turns out as their values have it, and is noted as a condition of the `Path`. So what it
returns holds for all sizes for which the same conditions turn out the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

from numpy.lib.mixins import NDArrayOperatorsMixin

from autotune.base.errors import AutotuneError
from autotune.codegen.model.integers import TracedNumber

from .terms import COMPUTE, NEVER, Values

_MARK = re.compile("\x02(\\d+)\x03")  # stands for a number in a text; no source has these characters
_MOST = 2**127  # beyond the integers of C++
_NEUTRAL = {"add": 0, "subtract": 0, "multiply": 1, "floor_divide": 1}  # on the right, where it changes nothing


class TraceError(AutotuneError, TypeError):
    """An operator does with a size what an export cannot follow."""


@dataclass(eq=False)
class Path:
    """One way through a function.

    Attributes:
        values: of the traced sizes.
        conditions: the rows of what was asked, and how it turned out.
        printed: the numbers that texts hold, as marks.
        narrow: how many conditions came before the value of a number was needed; the path is that of this value.
    """

    values: Values
    conditions: dict[int, bool] = field(default_factory=dict)
    printed: list[Number] = field(default_factory=list)
    narrow: int | None = None

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes to call a function with."""
        most = self.values.terms.most
        return {name: self.term("size", place, low=1, high=most[name]) for place, name in enumerate(self.values.sizes)}

    def leads(self, tree: Any) -> bool:
        """Whether a tree leads to something; see `Terms`."""
        return bool(self.term("leads", tree, high=1))

    def result(self, tree: Any) -> Any:
        """The number that a tree leads to."""
        return self.term("result", tree, high=NEVER)

    def term(self, operation: str, left: Any, right: Any = 0, *, low: float = 0, high: float) -> Number:
        """The number of a row, and between which numbers it is for any sizes."""
        return Number(self, self.values.terms.row(operation, left, right), low, high)

    def row(self, value: Any) -> int:
        """The row of a number, traced or not."""
        if isinstance(value, Number):
            return value.row
        return self.values.terms.constant(value if isinstance(value, float) else int(value))

    def plain(self, text: str) -> str:
        """A text with the values of the numbers that it holds."""
        return _MARK.sub(lambda match: str(int(self.printed[int(match[1])])), text)

    def computed(self, operation: str, left: Any, right: Any = 0) -> Any:
        """A number that follows from others; a plain one if it is the same for all sizes."""
        if operation in ("floor_divide", "remainder") and right < 1:
            raise TraceError(
                f"a division by {_value(right)}, which follows from sizes: expected a divisor of at least 1"
            )
        if type(right) is int and right == _NEUTRAL.get(operation):
            return left
        low, high = _ends(operation, left, right)
        if low == high:
            return low
        found = self.term(operation, self.row(left), self.row(right), low=low, high=high)
        if isinstance(found.value, int) and max(-low, high) >= _MOST:
            raise TraceError("a number that follows from sizes may take over 127 bits")
        return found

    def asked(self, operation: str, left: Any, right: Any) -> bool:
        """How a comparison turns out; it is noted unless it turns out so for all sizes."""
        (low, high), (least, most) = _bounds(left), _bounds(right)
        if high < least or (low >= most if operation == "less" else low > most):
            return operation == "less" and high < least
        rows = self.row(left), self.row(right)
        if rows[0] == rows[1]:
            return operation == "equal"
        condition = self.values.terms.row(operation, *rows)
        self.conditions[condition] = outcome = self.values[condition]
        return bool(outcome)


@dataclass(eq=False, slots=True)
class Number(NDArrayOperatorsMixin, TracedNumber):
    """A number that follows from sizes. Its operators are NumPy's, by `__array_ufunc__`.

    Attributes:
        path: where conditions on it are noted.
        row: of its term.
        low, high: between which numbers it is for any sizes.
    """

    path: Path
    row: int
    low: float
    high: float

    @property
    def value(self) -> Any:
        """What it is for the traced sizes."""
        return self.path.values[self.row]

    def __array_ufunc__(self, function: Any, _: str, one: Any, *others: Any, **__: Any) -> Any:
        other = others[0] if others else 0
        match function.__name__:
            case "less" | "greater_equal" as name:
                return self.path.asked("less", one, other) is (name == "less")
            case "greater" | "less_equal" as name:
                return self.path.asked("less", other, one) is (name == "greater")
            case "equal" | "not_equal" as name:
                alike = isinstance(other, Number | int | float) and self.path.asked("equal", one, other)
                return alike is (name == "equal")
            case "negative":
                return 0 - one
            case "divmod":
                return one // other, one % other
            case name if name in COMPUTE:
                return self.path.computed(name, one, other)
        return NotImplemented

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __ceil__(self) -> Any:
        return self if isinstance(self.value, int) else self.path.computed("ceil", self)

    def __floor__(self) -> Any:
        return self if isinstance(self.value, int) else -math.ceil(-self)

    def __round__(self) -> Any:
        return self if isinstance(self.value, int) else self.path.computed("rint", self)

    def largest(self, values: Iterable[Any]) -> Any:
        """See `largest`."""
        return reduce(partial(self.path.computed, "maximum"), values)

    def log(self, base: float) -> Any:
        """See `logarithm`."""
        return self.path.computed("logarithm", self, base)

    def __index__(self) -> int:
        """The value; the path is that of this value."""
        if self.path.narrow is None:
            self.path.narrow = len(self.path.conditions)
        self.path.asked("equal", self, self.value)
        return int(self.value)

    __int__ = __trunc__ = __index__

    def __float__(self) -> float:
        self.__index__()
        return float(self.value)

    def __str__(self) -> str:
        self.path.printed.append(self)
        return f"\x02{len(self.path.printed) - 1}\x03"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)

    def __hash__(self) -> int:
        """What is cached by a size would be served again where conditions on it turn out otherwise."""
        raise TraceError("a size, or what follows from it, is looked up in a table or a cache here")


def _value(value: Any) -> Any:
    return value.value if isinstance(value, Number) else value


def _bounds(value: Any) -> tuple[float, float]:
    return (value.low, value.high) if isinstance(value, Number) else (value, value)


def _ends(operation: str, left: Any, right: Any) -> tuple[float, float]:
    """Between which numbers a result is: operations are monotonous in each operand."""
    (low, high), (least, most) = _bounds(left), _bounds(right)
    if operation in ("remainder", "bitwise_and"):  # of two numbers, the left one is at least 0
        return 0, most - 1 if operation == "remainder" else high
    if operation == "bitwise_or":  # of two numbers that are at least 0
        return max(low, least), high + most
    if operation == "floor_divide":
        least = max(1, least)
    elif (low <= 0 and operation in ("power", "logarithm")) or (least <= 0 and operation == "divide"):
        return -math.inf, math.inf
    with suppress(OverflowError):
        ends = [COMPUTE[operation](one, other) for one in (low, high) for other in (least, most)]
        if not any(one != one for one in ends):  # no infinity less another one
            return min(ends), max(ends)
    return -math.inf, math.inf
