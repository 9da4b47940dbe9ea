"""Few of many drawn cases that cover most pairs of what they have: what a bug takes is mostly one value, or two."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import combinations
from math import gcd
from typing import Any, TypeVar

from autotune.codegen.fields import FieldRole, field_specs
from autotune.codegen.problem import Problem
from autotune.codegen.schedule import Schedule

P = TypeVar("P", bound=Problem)
S = TypeVar("S", bound=Schedule)

MOST = 96  # cases of an operator: each is compiled for the emulator and, unoptimised, for a GPU
_SHARE = 0.9  # of all pairs, after which more cases add little


def covering(
    drawn: Sequence[tuple[P, S]], always: Callable[[P, S], Hashable] = lambda *_: None, most: int = MOST
) -> list[tuple[P, S]]:
    """The cases that cover nine tenths of the pairs, or `most` cases: one by one that which adds the most pairs.

    Args:
        drawn: cases to choose from.
        always: a relation between a problem and a schedule, of which each value gets a case before all else.
        most: cases.
    """
    bits: dict[tuple[Any, Any], int] = {}
    pairs = [sum(1 << bits.setdefault(two, len(bits)) for two in combinations(_facts(*case), 2)) for case in drawn]
    values = [always(*case) for case in drawn]
    left, missing = set(range(len(drawn))), set(values)
    covered, chosen = 0, []
    while left and len(chosen) < most and (missing or covered.bit_count() < _SHARE * len(bits)):
        wanted = [index for index in sorted(left) if not missing or values[index] in missing]
        best = max(wanted, key=lambda index: (pairs[index] & ~covered).bit_count())
        covered |= pairs[best]
        left.remove(best)
        missing.discard(values[best])
        chosen.append(drawn[best])
    return chosen


def _facts(problem: Problem, schedule: Schedule) -> Iterator[tuple[str, object]]:
    """The fields; of sizes, how even they are, and of what lies in memory, whether it is as usual."""
    yield from schedule.to_dict().items()
    for name, spec in field_specs(type(problem)).items():
        value = getattr(problem, name)
        if spec.role is FieldRole.KIND:
            yield name, value
        elif spec.role is FieldRole.SIZE:
            yield name, value if value < 2 else (2, gcd(value, 64))
        else:
            yield name, value == problem.usual(name)
