"""What a function of sizes returns, as a tree of conditions that grows as sizes are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .terms import Terms, Values
from .trace import Path

T = TypeVar("T")
NOTHING = -1  # in tables: where a tree leads to nothing, or is not known


@dataclass(eq=False)
class _Branch:
    """A condition, and what follows where it holds and where it does not, as far as that is known."""

    condition: int
    ways: dict[bool, Any] = field(default_factory=dict)


class Formula(Generic[T]):
    """A function of sizes whose results follow from terms. None is no result, and so is a ``ValueError``.

    Attributes:
        results: all that are known, each once.
    """

    def __init__(self, terms: Terms, function: Callable[[Path, Mapping[str, Any]], T | None]) -> None:
        self._terms, self._function = terms, function
        self._ways: dict[bool, Any] = {}  # True leads to the root
        self.results: dict[T, None] = {}

    def known(self, values: Values) -> T | None:
        """The result for some sizes, as far as it is known."""
        ways, way = self._end(values)
        result: T | None = ways.get(way)
        return result

    def at(self, sizes: Mapping[str, int], values: Values, *, own: bool = False) -> T | None:
        """The result for some sizes.

        Args:
            sizes: that are asked for.
            values: of the same sizes.
            own: whether the result may hold values of these sizes, which then have it alone.
        """
        ways, way = self._end(values)
        result: T | None = ways.get(way)
        if way not in ways:
            path = Path(self._terms)
            try:
                result = self._function(path, path.sizes(sizes))
            except ValueError:  # of a problem that cannot exist
                result = None
            conditions = list(path.conditions.items())
            if path.narrow is not None and not own:  # for no other value either
                conditions, result = conditions[: path.narrow], None
            self._grow(conditions, result)
        return result

    def _end(self, values: Values) -> tuple[dict[bool, Any], bool]:
        """Where the tree ends for some sizes, and which way leads on."""
        ways, way = self._ways, True
        while isinstance(node := ways.get(way), _Branch):
            ways, way = node.ways, values[node.condition]
        return ways, way

    def _grow(self, conditions: list[tuple[int, bool]], result: T | None) -> None:
        """Let conditions that turn out so lead to a result.

        They are the tree's as far as it is known, but where that asks for the value of a number and finds another one.
        """
        ways, way = self._ways, True
        for condition, outcome in conditions:
            while isinstance(node := ways.get(way), _Branch) and node.condition != condition:
                ways, way = node.ways, False
            if not isinstance(node, _Branch):
                node = ways[way] = _Branch(condition)
            ways, way = node.ways, outcome
        while isinstance(node := ways.get(way), _Branch):
            ways, way = node.ways, False
        ways[way] = result
        if result is not None:
            self.results[result] = None

    def written(self, nodes: dict[tuple[int, int, int], int], number: Callable[[T], int]) -> int:
        """Add the tree to a table of conditions and of what follows; see `Node` of plan.hpp. Return its root."""

        def row(node: Any) -> int:
            if not isinstance(node, _Branch):
                return NOTHING if node is None else NOTHING - 1 - number(node)
            yes, no = (row(node.ways.get(way)) for way in (True, False))
            return yes if yes == no else nodes.setdefault((node.condition, yes, no), len(nodes))

        return row(self._ways.get(True))
