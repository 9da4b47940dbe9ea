"""What Python computes from a problem's sizes, and for which sizes it computes the same.

A function is called for some sizes, each of them a `Number`: its value, and how it follows from the sizes. What the
function asks of numbers turns out as their values have it, and is noted as a condition of the `Path`. So what it
returns holds for all sizes for which the same conditions turn out the same.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from autotune.base.errors import AutotuneError
from autotune.codegen.model.integers import TracedInt

from .terms import Terms

_MARK = re.compile("\x02(\\d+)\x03")  # stands for a number in a text; no source has these characters
_LONG, _WIDE = 2**63, 2**127  # beyond the integers of C++


class TraceError(AutotuneError, TypeError):
    """An operator does with a size what an export cannot follow."""


@dataclass(eq=False)
class Path:
    """One way through a function.

    Attributes:
        terms: where its numbers are defined.
        conditions: what was asked, and how it turned out.
        printed: the numbers that texts hold, as marks.
        narrow: how many conditions came before the value of a number was needed; the path is that of this value.
    """

    terms: Terms
    conditions: dict[str, bool] = field(default_factory=dict)
    printed: list[Number] = field(default_factory=list)
    narrow: int | None = None

    def sizes(self, values: Mapping[str, int]) -> dict[str, Number]:
        """The sizes to call a function with."""
        return {name: Number(self, name, value, 1, self.terms.most[name]) for name, value in values.items()}

    def decided(self, condition: str, outcome: bool) -> bool:
        """Note a condition."""
        self.conditions[condition] = outcome
        return outcome

    def plain(self, text: str) -> str:
        """A text with the values of the numbers that it holds."""
        return _MARK.sub(lambda match: str(int(self.printed[int(match[1])])), text)


def _both(compute: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """A method of the left operand, and that of the right one."""
    return compute, lambda own, other: compute(other, own)


def _real(compute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Real]:
    """The function of two numbers whose result is no whole number."""
    return lambda left, right: Real(compute(_value(left), _value(right)), left, right)


class Real:
    """A floating-point number that follows from sizes, such as a tolerance. Its value is that of plain numbers."""

    def __init__(self, value: Any, *operands: Any) -> None:
        self.value, self._operands = value, operands

    __add__, __radd__ = _both(_real(operator.add))
    __sub__, __rsub__ = _both(_real(operator.sub))
    __mul__, __rmul__ = _both(_real(operator.mul))
    __truediv__, __rtruediv__ = _both(_real(operator.truediv))
    __pow__, __rpow__ = _both(_real(operator.pow))
    __lt__, __gt__ = _both(lambda left, right: float(left) < float(right))

    def __float__(self) -> float:
        for operand in self._operands:
            float(operand)
        return float(self.value)


@dataclass(eq=False, slots=True)
class Number(TracedInt):
    """A whole number that follows from sizes.

    Attributes:
        path: where conditions on it are noted.
        name: of the size or of the term.
        value: what it is for the traced sizes.
        low, high: between which numbers it is for any sizes.
    """

    path: Path
    name: str
    value: int
    low: int
    high: int

    __add__, __radd__ = _both(lambda left, right: _computed("+", operator.add, left, right, 0))
    __sub__, __rsub__ = _both(lambda left, right: _computed("-", operator.sub, left, right, 0))
    __mul__, __rmul__ = _both(lambda left, right: _computed("*", operator.mul, left, right, 1))
    __floordiv__, __rfloordiv__ = _both(lambda left, right: _divided(left, right)[0])
    __mod__, __rmod__ = _both(lambda left, right: _divided(left, right)[1])
    __divmod__, __rdivmod__ = _both(lambda left, right: _divided(left, right))
    __truediv__, __rtruediv__ = _both(_real(operator.truediv))
    __pow__, __rpow__ = _both(_real(operator.pow))
    __lt__, __gt__ = _both(lambda left, right: _less(left, right))
    __ge__, __le__ = _both(lambda left, right: not _less(left, right))

    def __neg__(self) -> Any:
        return 0 - self

    def __ceil__(self) -> Number:
        return self

    __floor__ = __ceil__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number | int):
            return False
        (low, high), (least, most) = _bounds(self), _bounds(other)
        if high < least or most < low:
            return False
        return _name(other) == self.name or self.path.decided(
            f"{self.name} == {_name(other)}", self.value == _value(other)
        )

    def __bool__(self) -> bool:
        return self != 0

    def __index__(self) -> int:
        if self.path.narrow is None:
            self.path.narrow = len(self.path.conditions)
        self.path.decided(f"{self.name} == {self.value}", True)
        return self.value

    __int__ = __index__

    def __float__(self) -> float:
        return float(int(self))

    def __str__(self) -> str:
        self.path.printed.append(self)
        return f"\x02{len(self.path.printed) - 1}\x03"

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)

    def __hash__(self) -> int:
        """What is cached by a size would be served again where conditions on it turn out otherwise."""
        raise TraceError("a size, or what follows from it, is looked up in a table or a cache here")


def _computed(sign: str, compute: Callable[[Any, Any], Any], left: Any, right: Any, neutral: int) -> Any:
    """A sum, a difference or a product; `neutral` changes nothing on the right."""
    if not (_is_whole(left) and _is_whole(right)):
        return _real(compute)(left, right)
    if _is(right, neutral):
        return left
    if _is(left, neutral) and sign != "-":
        return right
    ends = [compute(a, b) for a in _bounds(left) for b in _bounds(right)]
    return _number(f"{{}} {sign} {{}}", compute(_value(left), _value(right)), ends, left, right)


def _divided(left: Any, right: Any) -> tuple[Any, Any]:
    """A quotient rounded down, and its remainder."""
    if not (_is_whole(left) and _is_whole(right)):
        return _real(operator.floordiv)(left, right), _real(operator.mod)(left, right)
    if right < 1:
        raise TraceError(f"a division by {_value(right)}, which follows from sizes: expected a divisor of at least 1")
    if _is(right, 1):
        return left, 0
    (low, high), (least, most) = _bounds(left), _bounds(right)
    quotient, rest = divmod(_value(left), _value(right))
    ends = [a // b for a in (low, high) for b in (max(1, least), most)]
    divided = _number("floor_div({}, {})", quotient, ends, left, right)
    if low >= 0 and high < least:
        return divided, left
    return divided, _number("{} % {}" if low >= 0 else "floor_mod({}, {})", rest, [0, most - 1], left, right)


def _number(form: str, value: int, ends: list[int], left: Any, right: Any) -> Any:
    """A number between others; a plain one if it is the same for all sizes."""
    low, high = min(ends), max(ends)
    if low == high:
        return low
    if max(-low, high) >= _WIDE:
        raise TraceError("a number that follows from sizes may take over 127 bits")
    kind, (one, other) = _kind(low, high), (_name(left), _name(right))
    if kind == "Wide" and "Wide" not in (_kind(*_bounds(left)), _kind(*_bounds(right))):
        one = f"wide({one})"
    path: Path = next(one.path for one in (left, right) if isinstance(one, Number))
    return Number(path, path.terms.name(kind, form.format(one, other)), value, low, high)


def _less(left: Any, right: Any) -> bool:
    if not (_is_whole(left) and _is_whole(right)):
        return float(left) < float(right)
    (low, high), (least, most) = _bounds(left), _bounds(right)
    if high < least or low >= most or _name(left) == _name(right):
        return bool(high < least)
    path: Path = next(one.path for one in (left, right) if isinstance(one, Number))
    return path.decided(f"{_name(left)} < {_name(right)}", _value(left) < _value(right))


def _kind(low: int, high: int) -> str:
    return "Wide" if max(-low, high) >= _LONG else "long long"


def _is(value: Any, number: int) -> bool:
    return type(value) is int and value == number


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | Number)


def _value(value: Any) -> Any:
    return value.value if isinstance(value, Number | Real) else value


def _name(value: Any) -> str:
    return value.name if isinstance(value, Number) else str(int(value))


def _bounds(value: Any) -> tuple[int, int]:
    return (value.low, value.high) if isinstance(value, Number) else (value, value)
