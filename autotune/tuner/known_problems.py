"""The problems that a database knows, and the order in which they are taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.operator import Operator

if TYPE_CHECKING:
    from autotune.db import TuningDB

Wanted = tuple[Operator[Any, Any], Problem]


def known_problems(operators: Iterable[Operator[Any, Any]], db: TuningDB) -> Iterator[Wanted]:
    """All problems that a database knows, those of which trials ship among them; of each operator the smallest first.

    A large one takes seconds to set up, while its candidates differ least: all of them wait for memory.
    """
    for operator in operators:
        found: list[Problem] = []
        for record in db.problems(operator.name):
            with suppress(ValueError):  # of another version
                found.append(operator.problem_type.from_dict(record.fields))
        found.sort(key=lambda problem: problem.work.bytes)
        yield from ((operator, problem) for problem in found if not problem.empty)


def in_turns(problems: Iterable[Wanted]) -> Iterator[Wanted]:
    """The problems, each once, one of each operator after the other: expensive compilations are spread out."""
    of: dict[str, list[Wanted]] = {}
    for one in dict.fromkeys(problems):
        of.setdefault(one[0].name, []).append(one)
    for turn in zip_longest(*of.values()):
        yield from filter(None, turn)
