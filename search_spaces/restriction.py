"""Smaller spaces: some values of a space's parameters, a sample of its schedules, nothing but a list of schedules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

from ..codegen.problem import Problem
from .device_spec import DeviceSpec
from .operator import Operator, S
from .space import Draw, Parameter, Space

_ALL = 100_000  # draws that are gone through one by one; more are sampled
_TYPED = str.maketrans(" ×·", "-x.")
_PATIENCE = 1_000  # random draws in a row that bring nothing new before the search for more ends


def narrowed(space: Space[S], words: Sequence[str]) -> Space[S]:
    """The space with fewer values: ``stages=2,3`` leaves two to the parameter `stages`.

    Raises:
        ValueError: one line that says which parameters and values there are.
    """
    known = {parameter.name: parameter for parameter in space.parameters}
    chosen = dict(known)
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or name not in known:
            raise ValueError(f"{word!r} is not PARAMETER=VALUE,… with a PARAMETER of {', '.join(known)}")
        values = {_word(value): value for value in known[name].values}
        unknown = [value for value in text.split(",") if value not in values]
        if unknown:
            raise ValueError(f"{name}={unknown[0]}: expected some of {', '.join(values)}")
        chosen[name] = Parameter(name, tuple(values[value] for value in dict.fromkeys(text.split(","))))
    return replace(space, parameters=tuple(chosen.values()))


def sample(
    operator: Operator[Any, S], problem: Problem, limits: DeviceSpec, space: Space[S], count: int, seed: int
) -> list[S]:
    """All legal schedules of a space if they are `count` or fewer, else so many: its seeds and uniform draws.

    The same arguments give the same list, and a greater `count` one that begins with it.
    """

    def legal(draws: Iterator[Draw]) -> Iterator[S | None]:
        for draw in draws:
            schedule = space.build(draw)
            yield None if operator.violations(problem, schedule, limits) else schedule

    found: dict[S, None] = dict.fromkeys(known for known in operator.seeds(problem, limits) if known in space)
    if space.size <= _ALL:
        others = list(dict.fromkeys(s for s in legal(space.all_draws()) if s is not None and s not in found))
        Random(seed).shuffle(others)
        return [*found, *others][:count]
    fruitless = 0
    draws = legal(space.random_draws(seed))
    while len(found) < count and fruitless < _PATIENCE:
        schedule = next(draws)
        fruitless = fruitless + 1 if schedule is None or schedule in found else 0
        if schedule is not None:
            found[schedule] = None
    return list(found)[:count]


def restricted(operator: Operator[Any, S], schedules: Collection[S], source: str) -> Operator[Any, S]:
    """The operator as if only these schedules were legal.

    Args:
        operator: the operator.
        schedules: legal ones of its space.
        source: where they come from, for the objection to all others.
    """
    listed = frozenset(schedules)

    def violations(problem: Any, schedule: S, limits: DeviceSpec) -> list[str]:
        objection = [] if schedule in listed else [f"not one of the {len(listed)} schedules in {source}"]
        return operator.violations(problem, schedule, limits) or objection

    @cache
    def space(problem: Any, limits: DeviceSpec) -> Space[S]:
        return _listed(operator.space(problem, limits), schedules)

    def seeds(problem: Any, limits: DeviceSpec) -> list[S]:
        return [seed for seed in operator.seeds(problem, limits) if seed in listed]

    return replace(operator, violations=violations, space=space, seeds=seeds)


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

    return _ListedSpace(
        parameters, build, space.draw_of, tuple(dict(zip(names, draw, strict=True)) for draw in by_draw)
    )


def _nearest(
    parameters: Sequence[Parameter], draws: Sequence[tuple[Any, ...]]
) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """What finds the draw that differs least: in the fewest parameters, and then by the fewest steps."""
    import numpy as np

    places = [{value: place for place, value in enumerate(p.values)} for p in parameters]

    def placed(draw: Sequence[Any]) -> list[int]:
        return [place[value] for place, value in zip(places, draw, strict=True)]

    table = np.array([placed(draw) for draw in draws])

    def nearest(draw: Sequence[Any]) -> tuple[Any, ...]:
        steps = np.abs(table - placed(draw))
        difference = np.count_nonzero(steps, axis=1) + steps.sum(axis=1) / (1 + steps.sum())
        return draws[int(np.argmin(difference))]

    return nearest


def _word(value: Any) -> str:
    """A value as people can type it."""
    return str(int(value)) if isinstance(value, bool) else str(value).translate(_TYPED)
