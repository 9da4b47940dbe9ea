"""Trees of conditions on sizes, in Python and as C++."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from .terms import Terms, Values

T = TypeVar("T")
_OPPOSITE = {"<": ">=", "==": "!="}
_TERM = re.compile(r"\bx\d+\b")


@dataclass(frozen=True)
class Leaf(Generic[T]):
    """Where the conditions end."""

    value: T


@dataclass(frozen=True)
class Branch(Generic[T]):
    """A condition, and what follows where it holds and where it does not, as far as that is known."""

    condition: str
    ways: Mapping[bool, Tree[T]]


Tree = Leaf[T] | Branch[T]


def grown(tree: Tree[T] | None, conditions: Sequence[tuple[str, bool]], value: T) -> Tree[T]:
    """The tree in which conditions that turn out so lead to a value.

    They are the tree's as far as it is known, but where that asks for the value of a number and finds another one.
    """
    if isinstance(tree, Branch) and (not conditions or tree.condition != conditions[0][0]):  # another value
        return Branch(tree.condition, {**tree.ways, False: grown(tree.ways.get(False), conditions, value)})
    if not conditions:
        return Leaf(value)
    (condition, way), *others = conditions
    ways = tree.ways if isinstance(tree, Branch) else {}
    return Branch(condition, {**ways, way: grown(ways.get(way), others, value)})


def found(tree: Tree[T] | None, values: Values) -> Leaf[T] | None:
    """The leaf of some sizes, if it is known."""
    while isinstance(tree, Branch):
        tree = tree.ways.get(values.of(tree.condition))
    return tree


def pruned(tree: Tree[T] | None, keep: Callable[[T], bool]) -> Tree[T] | None:
    """The tree with some of its leaves; two equal ways are one."""
    if not isinstance(tree, Branch):
        return tree if tree and keep(tree.value) else None
    ways: dict[bool, Tree[T]] = {}
    for way, one in tree.ways.items():
        if kept := pruned(one, keep):
            ways[way] = kept
    if len(ways) == 2 and ways[True] == ways[False]:
        return ways[True]
    return Branch(tree.condition, ways) if ways else None


def leaves(tree: Tree[T] | None) -> Iterator[T]:
    """All values."""
    if isinstance(tree, Leaf):
        yield tree.value
    elif tree:
        for one in tree.ways.values():
            yield from leaves(one)


def as_cpp(tree: Tree[T] | None, terms: Terms, write: Callable[[T], Iterable[str]]) -> str:
    """The statements of a function of the terms: those of a value where the tree leads to one."""
    return "".join(f"{line}\n" for line in _lines(tree, terms, write, "  ", set()))


def _lines(
    tree: Tree[T] | None, terms: Terms, write: Callable[[T], Iterable[str]], indent: str, known: set[str]
) -> Iterator[str]:
    if isinstance(tree, Leaf):
        lines = list(write(tree.value))  # definitions go ahead of all of them: some may be in a loop
        yield from (f"{indent}{one}" for one in (*_defined("\n".join(lines), terms, known), *lines))
    elif tree:
        *ways, (last, following) = sorted(tree.ways.items(), key=lambda way: not way[0])
        yield from (f"{indent}{one}" for one in _defined(tree.condition, terms, known))
        yield f"{indent}if ({tree.condition if ways or last else _negated(tree.condition)}) {{"
        for _, one in ways:
            yield from _lines(one, terms, write, f"{indent}  ", set(known))
            yield f"{indent}}} else {{"
        yield from _lines(following, terms, write, f"{indent}  ", set(known))
        yield f"{indent}}}"


def _defined(text: str, terms: Terms, known: set[str]) -> Iterator[str]:
    """Definitions of the terms of a text that are not known."""
    for name in _TERM.findall(text):
        if name not in known:
            known.add(name)
            kind, definition = terms.definitions[name]
            yield from _defined(definition, terms, known)
            yield f"const {kind} {name} = {definition};"


def _negated(condition: str) -> str:
    left, sign, right = next(condition.partition(f" {one} ") for one in _OPPOSITE if f" {one} " in condition)
    return f"{left} {_OPPOSITE[sign.strip()]} {right}"
