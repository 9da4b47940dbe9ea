"""A search space: named parameters with their values, and the schedule that a draw of them builds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random
from typing import Generic, TypeVar

from ..codegen.schedule import Schedule

S = TypeVar("S", bound=Schedule)
Value = int | bool | str
Draw = Mapping[str, Value]


@dataclass(frozen=True)
class Parameter:
    """A name and the values that it may take."""

    name: str
    values: tuple[Value, ...]

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers, so that neighbours are alike."""
        return all(type(value) is int for value in self.values)


@dataclass(frozen=True)
class Space(Generic[S]):
    """What a sampler draws from.

    Attributes:
        parameters: independent parameters, chosen so that most draws are legal schedules.
        build: the schedule of a draw.
        draw_of: the inverse of `build`, for schedules that are tried first.
    """

    parameters: tuple[Parameter, ...]
    build: Callable[[Draw], S]
    draw_of: Callable[[S], Draw]

    @property
    def size(self) -> int:
        """The number of draws, legal or not."""
        return prod(len(parameter.values) for parameter in self.parameters)

    def __contains__(self, schedule: S) -> bool:
        draw = self.draw_of(schedule)
        return all(draw[p.name] in p.values for p in self.parameters) and self.build(draw) == schedule

    def all_draws(self) -> Iterator[Draw]:
        """Every draw once, legal or not, the last parameter's values changing fastest."""
        names = [parameter.name for parameter in self.parameters]
        return (dict(zip(names, values, strict=True)) for values in product(*(p.values for p in self.parameters)))

    def random_draws(self, seed: int) -> Iterator[Draw]:
        """Uniform draws without end, the same for the same seed."""
        random = Random(seed)
        while True:
            yield {p.name: random.choice(p.values) for p in self.parameters}
