"""What a function of a problem's sizes returns, as a tree of the conditions that it decides by."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from autotune.codegen.model.integers import ceil_div

from .expressions import Condition, Expression, Pool, TraceError, bounds
from .extremes import symbolic_extremes

T = TypeVar("T")
U = TypeVar("U")

_COMPUTE: Mapping[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "neg": operator.neg,
    "pow": operator.pow,
    "ceil_div": ceil_div,
    "ceil": math.ceil,
    "floor": math.floor,
    "min": min,
    "max": max,
}
_MOST_PATHS = 20_000


@dataclass(frozen=True)
class Leaf(Generic[T]):
    """What is returned."""

    value: T


@dataclass(frozen=True)
class Branch(Generic[T]):
    """What is returned if all conditions hold, and if one does not."""

    conditions: tuple[Condition, ...]
    yes: Tree[T]
    no: Tree[T]


Tree = Leaf[T] | Branch[T]


def traced(pool: Pool, function: Callable[[], T]) -> Tree[T | None]:
    """Call a function once for each way that the conditions in it may turn out; None where it raises ``ValueError``.

    A problem that cannot exist raises that. It comes up where conditions contradict each other, which is not found out.

    Raises:
        TraceError: it needs the value of a size, or has too many ways.
    """
    paths = 0

    def result() -> T | None:
        try:
            return function()
        except ValueError:
            return None

    def explore(decided: list[bool]) -> Tree[T | None]:
        nonlocal paths
        paths += 1
        if paths > _MOST_PATHS:
            raise TraceError(f"more than {_MOST_PATHS} ways through conditions on sizes")
        met: dict[tuple[Any, ...], tuple[Condition, bool]] = {}
        known = _Known()

        def decide(condition: Condition) -> bool:
            follows = known.decided(condition)
            if follows is not None:
                return follows
            if condition.key not in met:
                met[condition.key] = condition, decided[len(met)] if len(met) < len(decided) else True
                known.note(*met[condition.key])
            return met[condition.key][1]

        pool.decide = decide
        tree: Tree[T | None] = Leaf(result())
        path = list(met.values())
        for number in range(len(path) - 1, len(decided) - 1, -1):
            tree = Branch((path[number][0],), tree, explore([*(value for _, value in path[:number]), False]))
        return tree

    with symbolic_extremes():
        try:
            return explore([])
        finally:
            pool.decide = None


class _Known:
    """What the conditions of a path say of whole numbers that were compared with plain ones: their intervals."""

    def __init__(self) -> None:
        self._bounds: dict[int, tuple[Any, Any]] = {}

    def decided(self, condition: Condition) -> bool | None:
        """Whether a condition holds; None if that does not follow."""
        (low, high), (least, most) = self._of(condition.left), self._of(condition.right)
        if condition.operation == "<":
            return True if high < least else False if low >= most else None
        if high < least or most < low:
            return False
        return True if low == high == least == most else None

    def note(self, condition: Condition, holds: bool) -> None:
        """Narrow an interval by a condition that was decided."""
        left, right = condition.left, condition.right
        if isinstance(left, Expression) and left.low is not None and type(right) is int:
            low, high = self._of(left)
            if condition.operation == "<":
                low, high = (low, min(high, right - 1)) if holds else (max(low, right), high)
            elif holds:
                low = high = right
            else:
                low, high = low + (right == low), high - (right == high)
            self._bounds[left.number] = low, high
        elif isinstance(right, Expression) and right.low is not None and type(left) is int:
            low, high = self._of(right)
            self._bounds[right.number] = (max(low, left + 1), high) if holds else (low, min(high, left))

    def _of(self, value: Any) -> tuple[Any, Any]:
        known = self._bounds.get(value.number) if isinstance(value, Expression) else None
        return known or bounds(value)


def mapped(tree: Tree[T], function: Callable[[T], U]) -> Tree[U]:
    """The tree of what a function makes of the leaves; a branch of two equal trees is one of them."""
    if isinstance(tree, Leaf):
        return Leaf(function(tree.value))
    yes, no = mapped(tree.yes, function), mapped(tree.no, function)
    return yes if yes == no else Branch(tree.conditions, yes, no)


def value_at(value: Any, sizes: Mapping[str, int]) -> Any:
    """The number that an expression is for some sizes; a plain one as it is."""
    if not isinstance(value, Expression):
        return value
    if value.operation == "size":
        return sizes[value.operands[0]]
    return _COMPUTE[value.operation](*(value_at(one, sizes) for one in value.operands))


def leaf_at(tree: Tree[T], sizes: Mapping[str, int]) -> T:
    """What is returned for some sizes."""
    while isinstance(tree, Branch):
        tree = tree.yes if holding(tree.conditions, sizes) else tree.no
    return tree.value


def holding(conditions: Iterable[Condition], sizes: Mapping[str, int]) -> bool:
    """Whether all conditions hold for some sizes."""
    pairs = ((one.operation, value_at(one.left, sizes), value_at(one.right, sizes)) for one in conditions)
    return all(left < right if operation == "<" else left == right for operation, left, right in pairs)


def leaves(tree: Tree[T]) -> Iterator[T]:
    """All that may be returned."""
    if isinstance(tree, Leaf):
        yield tree.value
    else:
        yield from leaves(tree.yes)
        yield from leaves(tree.no)
