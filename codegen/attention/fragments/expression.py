"""Expressions of a pair of a query and a key: nodes, their types, and the text that names them.

The text is part of a problem's key, and comes from databases: only what `parsed` accepts becomes an expression. It is
written by functions alone, such as ``add(score,mul(0.5,sub(k,q)))``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from math import isfinite
from struct import error as StructError  # noqa: N812
from struct import pack, unpack

from autotune.codegen.model.integers import INT_MAX

PLACES = ("batch", "head", "q", "k")  # of a pair: integers
SCORE = "score"  # of a pair: a number
TABLES = {"number": "numbers", "integer": "integers"}  # arrays by the functions that read them
MOST_NODES = 256
_MOST_DEPTH = 64
_MOST_TEXT = 8192  # characters
MOST_HEADS = 2**24  # and sequences
MOST_INTEGER = 2**29  # of places, and of tables
_BOUNDS = {"batch": MOST_HEADS, "head": MOST_HEADS, **dict.fromkeys(("q", "k", "integer"), MOST_INTEGER)}
_TOKEN = re.compile(r"[a-z]\w*|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|[(),]")


class Kind(StrEnum):
    """What an expression's value is."""

    INTEGER = "an integer"
    NUMBER = "a number"  # float32
    TRUTH = "a comparison"


@dataclass(frozen=True)
class Function:
    """What a function takes and returns.

    Attributes:
        taken: kinds of its arguments; an integer is a number, too.
        returned: the kind of its value; None for that of its numbers: an integer if all of them are.
    """

    taken: tuple[Kind, ...]
    returned: Kind | None


_NUMBER, _INTEGER, _TRUTH = Kind.NUMBER, Kind.INTEGER, Kind.TRUTH
FUNCTIONS = {
    **dict.fromkeys(("add", "sub", "mul", "min", "max"), Function((_NUMBER, _NUMBER), None)),
    **dict.fromkeys(("neg", "abs"), Function((_NUMBER,), None)),
    **dict.fromkeys(("tanh", "exp2"), Function((_NUMBER,), _NUMBER)),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), Function((_NUMBER, _NUMBER), _TRUTH)),
    **dict.fromkeys(("and", "or"), Function((_TRUTH, _TRUTH), _TRUTH)),
    **dict.fromkeys(("floordiv", "mod"), Function((_INTEGER, _INTEGER), _INTEGER)),
    "number": Function((_INTEGER,), _NUMBER),
    "integer": Function((_INTEGER,), _INTEGER),
    "div": Function((_NUMBER, _NUMBER), _NUMBER),
    "not": Function((_TRUTH,), _TRUTH),
    "where": Function((_TRUTH, _NUMBER, _NUMBER), None),
}


@dataclass(frozen=True)
class Expression:
    """A name, a constant, or a function of other expressions.

    Attributes:
        head: the name or the function; empty of a constant.
        arguments: of a function.
        value: of a constant: an integer, or a number of float32.
    """

    head: str
    arguments: tuple[Expression, ...] = ()
    value: float | int | None = None

    def __post_init__(self) -> None:
        if self.head in FUNCTIONS:
            self._check_arguments(FUNCTIONS[self.head].taken)
        if self.nodes > MOST_NODES or self.depth > _MOST_DEPTH:
            raise ValueError(f"an expression of more than {MOST_NODES} parts, or more than {_MOST_DEPTH} in each other")
        if self.kind is Kind.INTEGER and self.bound > INT_MAX:
            raise ValueError(f"{self.head or self.value}: expected an integer of 32 bits, such as sums of few places")

    def _check_arguments(self, taken: tuple[Kind, ...]) -> None:
        kinds = [one.kind for one in self.arguments]
        fit = len(kinds) == len(taken) and all(
            one is wanted or (one is Kind.INTEGER and wanted is Kind.NUMBER)
            for one, wanted in zip(kinds, taken, strict=True)
        )
        if not fit:
            raise ValueError(f"{self.head} of {', '.join(kinds) or 'nothing'}: expected {', '.join(taken)}")
        if self.head in ("floordiv", "mod"):
            divisor = self.arguments[1]
            if divisor.value is None or divisor.value < 1:
                raise ValueError(f"{self.head} by {divisor}: expected a constant of 1 or more")

    @cached_property
    def kind(self) -> Kind:
        """What its value is."""
        if self.value is not None:
            return Kind.INTEGER if isinstance(self.value, int) else Kind.NUMBER
        if self.head not in FUNCTIONS:
            return Kind.NUMBER if self.head == SCORE else Kind.INTEGER
        numbers = [one.kind for one in self.arguments if one.kind is not Kind.TRUTH]
        whole = all(one is Kind.INTEGER for one in numbers)
        return FUNCTIONS[self.head].returned or (Kind.INTEGER if whole else Kind.NUMBER)

    @cached_property
    def nodes(self) -> int:
        """How many names, constants and functions it has."""
        return 1 + sum(one.nodes for one in self.arguments)

    @cached_property
    def depth(self) -> int:
        """How many functions are in each other."""
        return 1 + max((one.depth for one in self.arguments), default=0)

    @cached_property
    def bound(self) -> int:
        """Of an integer: its absolute value is no larger."""
        if self.value is not None:
            return int(abs(self.value))
        if self.head in _BOUNDS:
            return _BOUNDS[self.head]
        bounds = [one.bound for one in self.arguments if one.kind is Kind.INTEGER]
        if self.head in ("add", "sub"):
            return sum(bounds)
        if self.head == "mul" and len(bounds) > 1:
            return bounds[0] * bounds[1]
        return max(bounds, default=0)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The arrays that it reads: some of ``numbers`` and ``integers``."""
        own = frozenset({TABLES[self.head]} if self.head in TABLES else ())
        return own.union(*(one.tables for one in self.arguments))

    def __str__(self) -> str:
        if self.value is not None:
            return repr(self.value)
        return f"{self.head}({','.join(map(str, self.arguments))})" if self.arguments else self.head


def constant(value: float) -> Expression:
    """A constant; a number is rounded to float32.

    Raises:
        ValueError: it is not finite.
    """
    if isinstance(value, int):
        return Expression("", value=int(value))
    try:
        (rounded,) = unpack("<f", pack("<f", value)) if isfinite(value) else (value,)
    except (OverflowError, StructError):
        rounded = float("inf")
    if not isfinite(rounded):
        raise ValueError(f"constant {value}: expected a finite number of float32")
    return Expression("", value=float(rounded))


@lru_cache(maxsize=64)
def parsed(text: str, names: tuple[str, ...], kind: Kind) -> Expression:
    """The expression that a text states.

    Args:
        text: of functions of names and constants.
        names: that it may have.
        kind: that its value is to have; an integer is a number, too.

    Raises:
        ValueError: it is no such expression.
    """
    if len(text) > _MOST_TEXT or _TOKEN.sub("", text):
        raise ValueError(f"{text[:40]!r}: expected functions of {', '.join(names)} and constants, as traced")
    tokens = [*reversed(_TOKEN.findall(text))]
    found = _expression(tokens, names, 0)
    if tokens:
        raise ValueError(f"{text[:40]!r}: expected nothing behind {found}")
    if found.kind is not kind and (kind, found.kind) != (Kind.NUMBER, Kind.INTEGER):
        raise ValueError(f"{text[:40]!r} is {found.kind}: expected {kind}")
    return found


def _expression(tokens: list[str], names: tuple[str, ...], depth: int) -> Expression:
    """The next expression of reversed tokens, which are taken."""
    token = tokens.pop() if tokens else ""
    if depth > _MOST_DEPTH:
        raise ValueError(f"an expression of more than {_MOST_DEPTH} functions in each other")
    if token in names:
        return Expression(token)
    if token[:1] == "-" or token[:1].isdigit():
        return constant(float(token) if set(token) & set(".e") else int(token))
    if token not in FUNCTIONS:
        raise ValueError(f"{token!r}: expected one of {', '.join((*names, *FUNCTIONS))}, or a constant")
    arguments: list[Expression] = []
    for _ in FUNCTIONS[token].taken:
        if not tokens or tokens.pop() != ("," if arguments else "("):
            raise ValueError(f"{token}: expected {len(FUNCTIONS[token].taken)} arguments in parentheses")
        arguments.append(_expression(tokens, names, depth + 1))
    if not tokens or tokens.pop() != ")":
        raise ValueError(f"{token}: expected {len(FUNCTIONS[token].taken)} arguments in parentheses")
    return Expression(token, tuple(arguments))
