"""Smaller spaces: fewer values of the parameters, a sample of the schedules, or a given list of schedules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .kernel import Kernel, S
from .operator import Operator
from .space import Draw, Parameter, Space, Value

_ENUMERATED = 100_000  # a space of at most so many draws is enumerated, a larger one sampled
_ASCII = str.maketrans(" ×·", "-x.")
_MOST_FRUITLESS = 1_000  # consecutive draws without a new schedule, after which sampling ends


def restrict_values(space: Space[S], words: Sequence[str]) -> Space[S]:
    """The space with fewer values of some parameters: ``stages=2,3`` keeps two values of `stages`.

    Args:
        space: the whole space.
        words: PARAMETER=VALUE,… each.

    Raises:
        ValueError: an unknown parameter or value; the message lists the known ones.
    """
    known = {parameter.name: parameter.values for parameter in space.parameters}
    kept: dict[str, tuple[Value, ...]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in known:
            raise ValueError(f"{word!r} is not PARAMETER=VALUE,… with a PARAMETER of {', '.join(known)}")
        if name in kept:
            raise ValueError(f"{word!r}: {name} is given more than once")
        values = {_word(value): value for value in known[name]}
        unknown = [value for value in text.split(",") if value not in values]
        if unknown:
            raise ValueError(f"{name}={unknown[0]}: expected some of {', '.join(values)}")
        kept[name] = tuple(values[value] for value in dict.fromkeys(text.split(",")))
    return space.keeping(kept)


def sample(
    operator: Operator[Any, S], problem: Problem, spec: DeviceSpec, space: Space[S], count: int, seed: int
) -> list[S]:
    """At most `count` legal schedules: the seeds, then uniform draws without repetition.

    The same arguments give the same list; a greater `count` appends to it.
    """

    def legal(draws: Iterator[Draw]) -> Iterator[S | None]:
        for draw in draws:
            schedule = space.build(draw)
            yield None if operator.violations(problem, schedule, spec) else schedule

    found: dict[S, None] = dict.fromkeys(known for known in operator.seeds(problem, spec) if known in space)
    if space.size <= _ENUMERATED:
        others = list(dict.fromkeys(s for s in legal(space.all_draws()) if s is not None and s not in found))
        Random(seed).shuffle(others)
        return [*found, *others][:count]
    fruitless = 0
    draws = legal(space.random_draws(seed))
    while len(found) < count and fruitless < _MOST_FRUITLESS:
        schedule = next(draws)
        fruitless = fruitless + 1 if schedule is None or schedule in found else 0
        if schedule is not None:
            found[schedule] = None
    return list(found)[:count]


def restrict_schedules(operator: Operator[Any, S], schedules: Collection[S], source: str) -> Operator[Any, S]:
    """The operator as if only these schedules were legal.

    Args:
        operator: the operator.
        schedules: legal ones of its space.
        source: where they come from, for the message about any other schedule.
    """
    listed = frozenset(schedules)

    def constraints(problem: Any, schedule: S, spec: DeviceSpec) -> list[str]:
        unlisted = [] if schedule in listed else [f"not one of the {len(listed)} schedules in {source}"]
        return list(operator.constraints(problem, schedule, spec)) or unlisted

    def restricted(kernel: Kernel[Any, S]) -> Kernel[Any, S]:
        own = [schedule for schedule in schedules if operator.kernel_of(schedule) is kernel]
        space = cache(lambda problem, spec: _listed(kernel.space(problem, spec), own))
        return replace(kernel, constraints=constraints, space=space, applies=lambda *_: bool(own))

    return replace(operator, kernels=tuple(map(restricted, operator.kernels)))


@dataclass(frozen=True)
class _ListedSpace(Space[S]):
    """Some draws of a space; any other draw builds the schedule of the most similar one."""

    draws: tuple[Draw, ...]

    @property
    def size(self) -> int:
        return len(self.draws)

    def all_draws(self) -> Iterator[Draw]:
        return iter(self.draws)

    def random_draws(self, seed: int) -> Iterator[Draw]:
        random = Random(seed)
        while True:
            yield random.choice(self.draws)


def _listed(space: Space[S], schedules: Collection[S]) -> Space[S]:
    names = [parameter.name for parameter in space.parameters]
    by_draw = {tuple(map(space.draw_of(schedule).__getitem__, names)): schedule for schedule in schedules}
    parameters = tuple(
        Parameter(p.name, tuple(value for value in p.values if any(draw[index] == value for draw in by_draw)))
        for index, p in enumerate(space.parameters)
    )
    nearest = _nearest(parameters, list(by_draw))

    def build(draw: Draw) -> S:
        values = tuple(map(draw.__getitem__, names))
        return by_draw[values if values in by_draw else nearest(values)]

    return _ListedSpace(parameters, build, tuple(dict(zip(names, draw, strict=True)) for draw in by_draw))


def _nearest(
    parameters: Sequence[Parameter], draws: Sequence[tuple[Any, ...]]
) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """A function that returns the draw with the fewest different parameters; the fewest steps break a tie."""
    import numpy as np

    indices = [{value: index for index, value in enumerate(p.values)} for p in parameters]

    def coordinates(draw: Sequence[Any]) -> list[int]:
        return [index[value] for index, value in zip(indices, draw, strict=True)]

    table = np.array([coordinates(draw) for draw in draws])

    def nearest(draw: Sequence[Any]) -> tuple[Any, ...]:
        steps = np.abs(table - coordinates(draw))
        difference = np.count_nonzero(steps, axis=1) + steps.sum(axis=1) / (1 + steps.sum())
        return draws[int(np.argmin(difference))]

    return nearest


def _word(value: Any) -> str:
    """A value as it is typed on the command line."""
    return str(int(value)) if isinstance(value, bool) else str(value).translate(_ASCII)
