"""What a function of sizes returns, as a tree of conditions that grows as sizes are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .terms import Values
from .trace import Path

T = TypeVar("T")
NOTHING = -1  # in tables: where a tree leads to nothing, or is not known


@dataclass(eq=False)
class _Branch:
    """A condition, and what follows where it holds and where it does not, as far as that is known."""

    condition: int
    ways: dict[bool, Any] = field(default_factory=dict)


class Tree(Generic[T]):
    """What follows from terms: conditions on them lead to results. None is no result.

    Attributes:
        results: all that it leads to, each once.
    """

    def __init__(self) -> None:
        self._ways: dict[bool, Any] = {}  # True leads to the root
        self.results: dict[T, None] = {}

    def result(self, values: Values) -> T | None:
        """The result for some sizes, as far as it is known."""
        ways, way = self._end(values)
        result: T | None = ways.get(way)
        return result

    def ask(self, values: Values, function: Callable[[Path], T | None], *, own: bool = False) -> T | None:
        """The result for some sizes, by a function of sizes that are traced if it is not known yet.

        Args:
            values: of these sizes.
            function: what the tree stands for. A ``ValueError`` is no result: the problem cannot exist.
            own: whether the result may hold values of these sizes, which then have it alone.
        """
        ways, way = self._end(values)
        if way in ways:
            known: T | None = ways[way]
            return known
        path = Path(values)
        try:
            result = function(path)
        except ValueError:
            result = None
        conditions = list(path.conditions.items())
        if path.narrow is not None and not own:  # for no other value either
            conditions, result = conditions[: path.narrow], None
        self.grow(conditions, result)
        return result

    def grow(self, conditions: Iterable[tuple[int, bool]], result: T | None) -> None:
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
        """Add the tree to a table of conditions and of what follows; see `Node` of choose.hpp. Return its root."""

        roots: dict[_Branch, int] = {}

        def root(node: Any) -> int:
            if isinstance(node, _Branch):
                return roots[node]
            return NOTHING if node is None else NOTHING - 1 - number(node)

        for branch in reversed(self._branches()):
            yes, no = (root(branch.ways.get(way)) for way in (True, False))
            roots[branch] = yes if yes == no else nodes.setdefault((branch.condition, yes, no), len(nodes))
        return root(self._ways.get(True))

    def _branches(self) -> list[_Branch]:
        """All branches, each ahead of those below it. A chain of values is longer than calls may be nested."""
        found = [node for node in self._ways.values() if isinstance(node, _Branch)]
        for branch in found:
            found += (node for node in branch.ways.values() if isinstance(node, _Branch))
        return found

    def _end(self, values: Values) -> tuple[dict[bool, Any], bool]:
        """Where the tree ends for some sizes, and which way leads on."""
        ways, way = self._ways, True
        while isinstance(node := ways.get(way), _Branch):
            ways, way = node.ways, bool(values[node.condition])
        return ways, way
