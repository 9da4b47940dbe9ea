"""A search space: named parameters with their values, and the schedule that a draw of them builds."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from math import prod
from random import Random
from typing import Any, Generic, TypeVar

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.schedule import Schedule

S = TypeVar("S", bound=Hashable)
Value = int | float | bool | str
Draw = Mapping[str, Value]


@dataclass(frozen=True)
class Parameter:
    """A name and the values that it may take.

    A parameter that is named like a field or a property of the schedule has its value in the schedule that is built,
    unless the draw asked for more than there is.
    """

    name: str
    values: tuple[Value, ...]

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers, so that neighbours are alike."""
        return all(type(value) in (int, float) for value in self.values)


def field_parameters(schedule_type: type[Schedule], **fewer: Sequence[Value]) -> tuple[Parameter, ...]:
    """A parameter for each field that states values to search, or those that are given here for it instead."""
    stated = {name: spec.values for name, spec in field_specs(schedule_type).items() if spec.values}
    values = {name: fewer.get(name, of_field) for name, of_field in stated.items()}
    return tuple(Parameter(name, tuple(map(_plain, some))) for name, some in values.items())


@dataclass(frozen=True)
class Space(Generic[S]):
    """What a sampler draws from.

    Attributes:
        parameters: independent parameters, chosen so that most draws are legal schedules.
        build: the schedule of a draw.
        fits: by parameter, whether a schedule may have been built with a value of it; where the schedule has no such
            attribute, this saves trying all values.
    """

    parameters: tuple[Parameter, ...]
    build: Callable[[Draw], S]
    fits: Mapping[str, Callable[[S, Value], bool]] = field(default_factory=dict, kw_only=True)

    @property
    def size(self) -> int:
        """The number of draws, legal or not."""
        return prod(len(parameter.values) for parameter in self.parameters)

    def draw_of(self, schedule: S) -> Draw:
        """The first draw that builds a schedule.

        What a parameter drew is read off the schedule where it has an attribute of that name; of any other parameter
        all values that fit are tried.

        Raises:
            ValueError: no draw builds it.
        """
        names = [parameter.name for parameter in self.parameters]
        for values in product(*(self._read(parameter, schedule) for parameter in self.parameters)):
            draw = dict(zip(names, values, strict=True))
            if self.build(draw) == schedule:
                return draw
        raise ValueError(f"{schedule} is not in the search space")

    def __contains__(self, schedule: S) -> bool:
        try:
            self.draw_of(schedule)
        except ValueError:
            return False
        return True

    def all_draws(self) -> Iterator[Draw]:
        """Every draw once, legal or not, the last parameter's values changing fastest."""
        names = [parameter.name for parameter in self.parameters]
        return (dict(zip(names, values, strict=True)) for values in product(*(p.values for p in self.parameters)))

    def random_draws(self, seed: int) -> Iterator[Draw]:
        """Uniform draws without end, the same for the same seed."""
        random = Random(seed)
        while True:
            yield {p.name: random.choice(p.values) for p in self.parameters}

    def keeping(self, values: Mapping[str, Sequence[Value]]) -> Space[S]:
        """The space with only these values of some parameters."""
        kept = (Parameter(one.name, tuple(values.get(one.name, one.values))) for one in self.parameters)
        return replace(self, parameters=tuple(kept))

    def _read(self, parameter: Parameter, schedule: S) -> tuple[Value, ...]:
        """The values that a parameter may have had in the draw of a schedule; none if the schedule has another one."""
        if hasattr(schedule, parameter.name):
            value = _plain(getattr(schedule, parameter.name))
            return (value,) if value in parameter.values else ()
        fits = self.fits.get(parameter.name)
        return tuple(value for value in parameter.values if fits(schedule, value)) if fits else parameter.values


@dataclass(frozen=True)
class BareSpace(Space[tuple[Value, ...]]):
    """A space of which a draw builds no more than the tuple of its values, such as by `values_of`."""

    def draw_of(self, schedule: tuple[Value, ...]) -> Draw:
        """The draw with these values."""
        return {parameter.name: value for parameter, value in zip(self.parameters, schedule, strict=True)}


def values_of(parameters: Sequence[Parameter]) -> Callable[[Draw], tuple[Value, ...]]:
    """What builds the tuple of a draw's values, in the order of the parameters."""
    names = [parameter.name for parameter in parameters]
    return lambda draw: tuple(draw[name] for name in names)


def _plain(value: Any) -> Value:
    plain: Value = str(value) if isinstance(value, StrEnum) else value
    return plain
