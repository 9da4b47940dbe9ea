"""Numbers that follow from a problem's sizes: Python computes with them, and gets expressions instead of values.

An expression keeps its operation and operands, and of a whole number the interval that it lies in. Equal expressions of
one `Pool` are one object. What depends on the truth of an expression, such as ``if``, asks the pool to decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from autotune.base.errors import AutotuneError
from autotune.codegen.model.integers import SymbolicInt

_MARK = re.compile("\x02(\\d+)\x03")  # in a text, the number of an expression; no source has these characters


class TraceError(AutotuneError, TypeError):
    """An operator does with a size what an export cannot follow."""


@dataclass(eq=False)
class Pool:
    """The expressions of one export, each once.

    Attributes:
        decide: says whether a condition counts as true, while something is traced.
    """

    decide: Callable[[Condition], bool] | None = None
    known: dict[Any, Expression] = field(default_factory=dict)
    listed: list[Expression] = field(default_factory=list)

    def size(self, name: str, low: int, high: int) -> Expression:
        """A problem's size, which lies between two numbers, both included."""
        return self.make("size", (name,), low, high)

    def make(self, operation: str, operands: tuple[Any, ...], low: int | None, high: int | None) -> Expression:
        """An expression: of a whole number with its interval, else of a floating-point number."""
        key = (operation, *map(identity, operands))
        if key not in self.known:
            self.known[key] = Expression(self, len(self.known), operation, operands, low, high)
            self.listed.append(self.known[key])
        return self.known[key]


class Condition(NamedTuple):
    """A comparison of two numbers, of which one is an expression at least: ``<`` or ``==``."""

    operation: str
    left: Any
    right: Any

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for equal conditions."""
        return self.operation, identity(self.left), identity(self.right)


@dataclass(eq=False, slots=True)
class Expression(SymbolicInt):
    """A number that follows from sizes.

    Attributes:
        number: of the pool's expressions, in the order in which they came up.
        operation: a Python operator, the name of a function, or ``size``.
        operands: expressions and plain numbers; the name of a size.
        low, high: bounds of a whole number, both included; None of a floating-point number.
    """

    pool: Pool
    number: int
    operation: str
    operands: tuple[Any, ...]
    low: int | None
    high: int | None

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0) else _whole(self, "+", self, other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self if _is(other, 0) else _whole(self, "+", other, self, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0) else _whole(self, "-", self, other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return _whole(self, "-", other, self, lambda a, b: a - b)

    def __mul__(self, other: Any) -> Any:
        return 0 if _is(other, 0) else self if _is(other, 1) else _whole(self, "*", self, other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return 0 if _is(other, 0) else self if _is(other, 1) else _whole(self, "*", other, self, lambda a, b: a * b)

    def __floordiv__(self, other: Any) -> Any:
        return self if _is(other, 1) else _divided(self, "//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _divided(self, "//", other, self)

    def __mod__(self, other: Any) -> Any:
        return 0 if _is(other, 1) else _divided(self, "%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _divided(self, "%", other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __truediv__(self, other: Any) -> Any:
        return self.pool.make("/", (self, other), None, None)

    def __rtruediv__(self, other: Any) -> Any:
        return self.pool.make("/", (other, self), None, None)

    def __pow__(self, other: Any) -> Any:
        if type(other) is not float:
            raise TraceError(f"a power {other!r} of a number that follows from sizes: expected a float")
        return self.pool.make("pow", (self, other), None, None)

    def __neg__(self) -> Any:
        if self.operation == "neg":
            return self.operands[0]
        if self.operation == "//" and isinstance(self.operands[0], Expression):
            (value, divisor), plain = self.operands, type(self.operands[1]) is int
            if value.operation == "neg" and value.operands[0].low is not None and value.operands[0].low >= 0 and plain:
                low, high = bounds(self)
                return self.pool.make("ceil_div", (value.operands[0], divisor), -high, -low)
        return _whole(self, "neg", self, self, lambda a, _: -a, operands=(self,))

    def __ceil__(self) -> Any:
        return self if self.low is not None else self.pool.make("ceil", (self,), -(2**62), 2**62)

    def __floor__(self) -> Any:
        return self if self.low is not None else self.pool.make("floor", (self,), -(2**62), 2**62)

    def __lt__(self, other: Any) -> bool:
        return _less(self, self, other)

    def __gt__(self, other: Any) -> bool:
        return _less(self, other, self)

    def __le__(self, other: Any) -> bool:
        return not _less(self, other, self)

    def __ge__(self, other: Any) -> bool:
        return not _less(self, self, other)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        # While nothing is traced, expressions are compared, not their values.
        if not isinstance(other, Expression | int | float) or self.pool.decide is None:
            return False
        (low, high), (least, most) = bounds(self), bounds(other)
        if high < least or most < low:
            return False
        return low == high == least == most or self.pool.decide(Condition("==", self, other))

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        """What is cached by a size would be served again where conditions on it turn out otherwise."""
        raise TraceError("a size, or what follows from it, is looked up in a table or a cache here")

    def __str__(self) -> str:
        return f"\x02{self.number}\x03"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)

    def _refuse(self, *_: Any) -> NoReturn:
        raise TraceError("a number that follows from sizes is needed as a plain number here")

    __int__ = __index__ = __float__ = __round__ = __trunc__ = _refuse


def held(pool: Pool, text: str) -> tuple[Expression, ...]:
    """The expressions whose values a text holds, each once."""
    return tuple(pool.listed[number] for number in dict.fromkeys(int(match[1]) for match in _MARK.finditer(text)))


def filled(text: str, values: Mapping[int, Any]) -> str:
    """A text with the values of expressions, by their numbers."""
    return _MARK.sub(lambda match: str(values[int(match[1])]), text)


def identity(value: Any) -> tuple[Any, ...]:
    """A key by which equal expressions, and equal plain numbers of one type, are equal."""
    return (Expression, value.number) if isinstance(value, Expression) else (type(value), value)


def _is(value: Any, number: int) -> bool:
    return type(value) is int and value == number


def whole_number(value: Any) -> bool:
    """Whether a number or an expression is whole."""
    return value.low is not None if isinstance(value, Expression) else isinstance(value, int)


def bounds(value: Any) -> tuple[Any, Any]:
    """The interval of a value; all numbers, of a floating-point expression."""
    if not isinstance(value, Expression):
        return value, value
    return (float("-inf"), float("inf")) if value.low is None else (value.low, value.high)


def _whole(
    of: Expression,
    operation: str,
    left: Any,
    right: Any,
    compute: Callable[[int, int], int],
    operands: tuple[Any, ...] | None = None,
) -> Expression:
    """A sum, a difference, a product: whole if both operands are, with the extremes of the ends as its interval."""
    operands = operands or (left, right)
    if not (whole_number(left) and whole_number(right)):
        return of.pool.make(operation, operands, None, None)
    low, *_, high = sorted(compute(a, b) for a in bounds(left) for b in bounds(right))
    return of.pool.make(operation, operands, low, high)


def _divided(of: Expression, operation: str, left: Any, right: Any) -> Any:
    """A quotient rounded down, or its remainder, of whole numbers by one that is not 0 or negative."""
    least, most = bounds(right)
    if not (whole_number(left) and whole_number(right)) or least < 1:
        raise TraceError(f"{operation} of sizes: expected whole numbers, and a divisor of at least 1")
    low, high = bounds(left)
    if operation == "//":
        low, *_, high = sorted(a // b for a in (low, high) for b in (least, most))
        return low if low == high else of.pool.make(operation, (left, right), low, high)
    if low >= 0 and high < least:
        return left
    return of.pool.make(operation, (left, right), 0, most - 1)


def _less(of: Expression, left: Any, right: Any) -> bool:
    if left is right:
        return False
    (low, high), (least, most) = bounds(left), bounds(right)
    if high < least:
        return True
    if low >= most:
        return False
    if of.pool.decide is None:
        raise TraceError("sizes are compared where nothing is traced")
    return of.pool.decide(Condition("<", left, right))
