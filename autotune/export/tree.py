"""What a function of sizes returns, as a tree of conditions that grows as sizes are asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from .terms import Terms, Values
from .trace import Path, ValueNeededError

T = TypeVar("T")


@dataclass(eq=False)
class _Branch:
    """A condition, and what follows where it holds and where it does not, as far as that is known."""

    condition: int
    ways: dict[bool, Any] = field(default_factory=dict)


class Tree(Generic[T]):
    """What follows from terms: conditions on them lead to results. None is no result."""

    def __init__(self) -> None:
        self._root = _Branch(-1)  # whose way True leads on

    def ask(self, values: Values, function: Callable[[Path], T | None], *, own: bool = False) -> T | None:
        """The result for some sizes, by a function of sizes that are traced if it is not known yet.

        Args:
            values: of these sizes.
            function: what the tree stands for. A ``ValueError`` is no result: the problem cannot exist.
            own: whether the result may hold values of these sizes, which then have it alone.
        """
        branch, way, passed = self._root, True, set[int]()
        while isinstance(node := branch.ways.get(way), _Branch):
            branch, way = node, bool(values[node.condition])
            passed.add(node.condition)
        if way in branch.ways:
            known: T | None = node
            return known
        path, result = Path(values, own=False), None
        with suppress(ValueError):
            try:
                result = function(path)
            except ValueNeededError:
                if own:
                    path = Path(values, own=True)
                    result = function(path)
        for condition, outcome in path.conditions.items():
            if condition not in passed:
                branch.ways[way] = node = _Branch(condition)
                branch, way = node, outcome
        branch.ways[way] = result
        return result

    def row(self, terms: Terms, row_of: Callable[[T], int], nothing: int) -> int:
        """The row of what the tree leads to, by the rows of its results; `nothing` is that of no result."""
        rows: dict[_Branch, int] = {}

        def following(branch: _Branch, way: bool) -> int:
            node = branch.ways.get(way)
            return nothing if node is None else rows[node] if isinstance(node, _Branch) else row_of(node)

        branches = [self._root]  # each ahead of those below it
        for branch in branches:
            branches += (node for node in branch.ways.values() if isinstance(node, _Branch))
        for branch in reversed(branches[1:]):
            yes, no = following(branch, True), following(branch, False)
            rows[branch] = yes if yes == no else terms.row("select", branch.condition, yes, no)
        return following(self._root, True)
