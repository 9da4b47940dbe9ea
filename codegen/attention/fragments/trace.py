"""Fragments from Python functions, which are called once with placeholders."""

from __future__ import annotations

from collections.abc import Callable
from math import e, log2
from typing import Any

from .expression import PLACES, SCORE, TABLES, Expression, Kind, constant, parsed


class Traced:
    """A placeholder: what is computed of it becomes an expression.

    Of it there are ``+ - * / // % abs``, comparisons, and of these ``& | ~``.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def __add__(self, other: Any) -> Traced:
        return _of("add", self, other)

    def __radd__(self, other: Any) -> Traced:
        return _of("add", other, self)

    def __sub__(self, other: Any) -> Traced:
        return _of("sub", self, other)

    def __rsub__(self, other: Any) -> Traced:
        return _of("sub", other, self)

    def __mul__(self, other: Any) -> Traced:
        return _of("mul", self, other)

    def __rmul__(self, other: Any) -> Traced:
        return _of("mul", other, self)

    def __truediv__(self, other: Any) -> Traced:
        return _of("div", self, other)

    def __rtruediv__(self, other: Any) -> Traced:
        return _of("div", other, self)

    def __floordiv__(self, other: Any) -> Traced:
        return _of("floordiv", self, other)

    def __mod__(self, other: Any) -> Traced:
        return _of("mod", self, other)

    def __neg__(self) -> Traced:
        return _of("neg", self)

    def __abs__(self) -> Traced:
        return _of("abs", self)

    def __lt__(self, other: Any) -> Traced:
        return _of("lt", self, other)

    def __le__(self, other: Any) -> Traced:
        return _of("le", self, other)

    def __gt__(self, other: Any) -> Traced:
        return _of("gt", self, other)

    def __ge__(self, other: Any) -> Traced:
        return _of("ge", self, other)

    def __eq__(self, other: object) -> Traced:  # type: ignore[override]
        return _of("eq", self, other)

    def __ne__(self, other: object) -> Traced:  # type: ignore[override]
        return _of("ne", self, other)

    def __and__(self, other: Any) -> Traced:
        return _of("and", self, other)

    def __or__(self, other: Any) -> Traced:
        return _of("or", self, other)

    def __invert__(self) -> Traced:
        return _of("not", self)

    def __bool__(self) -> bool:
        raise TypeError("a fragment has no branches: expected where(condition, a, b), and & | ~ of comparisons")


class Table:
    """An array that a fragment reads: ``table[place]``, of an integer; beyond an end, it is the entry at that end."""

    def __init__(self, function: str) -> None:
        self._function = function

    def __getitem__(self, place: Any) -> Traced:
        return _of(self._function, place)

    def __iter__(self) -> Any:
        raise TypeError(f"a fragment reads {TABLES[self._function]} by places, such as {TABLES[self._function]}[q]")


numbers = Table("number")
integers = Table("integer")


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return _of("tanh", x)


def exp2(x: Any) -> Any:
    """2 to the power of x."""
    return _of("exp2", x)


def exp(x: Any) -> Any:
    """e to the power of x."""
    return exp2(x * log2(e))


def minimum(a: Any, b: Any) -> Any:
    """The smaller one."""
    return _of("min", a, b)


def maximum(a: Any, b: Any) -> Any:
    """The larger one."""
    return _of("max", a, b)


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b."""
    return _of("where", condition, a, b)


def score(function: Callable[..., Any]) -> str:
    """How a function changes scores, as text for ``attention(…, score=…)``.

    Args:
        function: of (score, batch, head, q, k): the scaled score, and the numbers of the sequence, the head, the query
            and the key. It returns the new score.

    Raises:
        TypeError: it does something else with its arguments than fragments may.
        ValueError: it returns no number, or its expression is too large.
    """
    return _traced(function, (SCORE, *PLACES), Kind.NUMBER)


def mask(function: Callable[..., Any]) -> str:
    """Which keys are seen, as text for ``attention(…, mask=…)``.

    Args:
        function: of (batch, head, q, k), which returns whether the query sees the key.

    Raises:
        TypeError: it does something else with its arguments than fragments may.
        ValueError: it returns no comparison, or its expression is too large.
    """
    return _traced(function, PLACES, Kind.TRUTH)


def alibi(heads: int) -> str:
    """The score that falls with the distance of a key, by slopes of as many heads.

    Source: Press et al., Train Short, Test Long: Attention with Linear Biases Enables Input Length Extrapolation, 2022.
    """
    if heads < 1:
        raise ValueError(f"heads={heads}: expected 1 or more")
    whole = 1 << heads.bit_length() - 1  # the largest power of two of them, whose slopes are 2^(-8/whole) and so on

    def biased(score: Any, batch: Any, head: Any, q: Any, k: Any) -> Any:
        power = (head + 1) * (-8 / whole)
        if heads > whole:
            power = where(head < whole, power, (2 * (head - whole) + 1) * (-4 / whole))
        return score + exp2(power) * (k - q)

    return score(biased)


def _traced(function: Callable[..., Any], names: tuple[str, ...], kind: Kind) -> str:
    found = function(*(Traced(Expression(name)) for name in names))
    text = str(_expression(found))
    parsed(text, names, kind)
    return text


def _of(head: str, *arguments: Any) -> Traced:
    return Traced(Expression(head, tuple(map(_expression, arguments))))


def _expression(value: Any) -> Expression:
    if isinstance(value, Traced):
        return value.expression
    if isinstance(value, int | float) and not isinstance(value, bool):
        return constant(value)
    raise TypeError(f"a fragment has a {type(value).__name__}: expected its arguments, numbers and functions of them")
