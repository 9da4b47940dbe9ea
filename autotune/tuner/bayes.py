"""Bayesian optimisation: a Gaussian process learns how the time model is wrong, and says what is worth trying.

What is proposed has the largest expected improvement (Jones, Schonlau, Welch: Efficient global optimization of
expensive black-box functions, 1998) among random schedules and the neighbours of the best. Before anything is known
that is what the time model finds fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import log
from typing import Any

import numpy as np
from scipy.special import ndtr

from ..codegen.schedule import Schedule
from ..db.states import Status
from ..search_spaces.space import Draw, Space
from .gaussian_process import Encoding, Floats, GaussianProcess
from .study import Outcome

_POOL = 1000  # random schedules to choose from
_FRESH = 200  # of them that are drawn anew when the process is tuned
_BEST = 5  # schedules whose neighbours are chosen from, too
_GROWTH = 1.2  # the process is tuned again when so many times as much is known
_FEWEST = 4  # values that say anything about its weights
_WORTHLESS = log(2)  # all that is twice as slow as the best counts as just that: only what is fast needs telling apart
_MOST = 250  # values that it takes in, half of them the best and half the newest: solving grows with their cube


@dataclass(frozen=True)
class Promising:
    """A draw that waits to be told what became of it."""

    draw: Draw


class BayesStudy:
    """A study that proposes legal schedules only, and none twice.

    A draw that was asked for and not told yet counts with the time that is expected of it (Ginsbourger, Le Riche,
    Carraro: Kriging is well-suited to parallelize optimization, 2010). One that failed counts as slow as the slowest.

    Args:
        space: what to draw from.
        legal: whether a schedule is legal.
        predict: seconds of a legal schedule by the time model.
        seed: where random numbers start.
    """

    def __init__(
        self, space: Space[Any], legal: Callable[[Any], bool], predict: Callable[[Any], float], seed: int
    ) -> None:
        self._space, self._legal, self._predict = space, legal, predict
        # Every draw of a small space is in the pool from the start.
        self._draws = iter(space.all_draws()) if space.size <= _POOL else space.random_draws(seed)
        self._encoding = Encoding(space.parameters)
        self._process = GaussianProcess(self._encoding, features=2)
        self._told: dict[Schedule, float | None] = {}  # logarithms of seconds; None for a failure
        self._waiting: dict[Schedule, None] = {}
        self._pool = self._drawn(_POOL)
        self._tuned_at = 0
        self._row = lru_cache(maxsize=4 * _POOL)(self._new_row)
        self._neighbours = lru_cache(maxsize=10 * _BEST)(self._new_neighbours)

    def ask(self) -> Promising:
        """The most promising draw; if no new one is known, any."""
        candidates = self._candidates()
        if not candidates:
            return Promising(next(self._space.random_draws(len(self._told))))
        points, features = self._rows(candidates)
        best = candidates[int(np.argmax(self._scores(points, features)))]
        self._waiting[best] = None
        return Promising(self._space.draw_of(best))

    def ask_for(self, draw: Draw) -> Promising:
        """A given draw, in place of a promising one."""
        self._waiting[self._space.build(draw)] = None
        return Promising(draw)

    def tell(self, asked: Promising, outcome: Outcome) -> None:
        """How a draw's schedule did."""
        self._waiting.pop(self._space.build(asked.draw), None)
        self.add(asked.draw, outcome)

    def add(self, draw: Draw, outcome: Outcome) -> None:
        """A draw that was not asked for, and how its schedule did."""
        seconds = outcome.seconds if outcome.status is Status.OK else None
        self._told[self._space.build(draw)] = log(seconds) if seconds else None

    def reject(self, asked: Promising, violations: int) -> None:
        """A draw is illegal, which teaches nothing."""

    def ignore(self, asked: Promising) -> None:
        """A draw says nothing."""

    def _drawn(self, count: int) -> list[Schedule]:
        """Legal schedules of so many random draws."""
        built = (self._space.build(draw) for draw in islice(self._draws, count))
        return [schedule for schedule in dict.fromkeys(built) if self._legal(schedule)]

    def _candidates(self) -> list[Schedule]:
        ok = [(value, schedule) for schedule, value in self._told.items() if value is not None]
        best = [schedule for _, schedule in sorted(ok, key=lambda pair: pair[0])[:_BEST]]
        near = (schedule for one in best for schedule in self._neighbours(one))
        everything = dict.fromkeys([*self._pool, *near])
        return [one for one in everything if one not in self._told and one not in self._waiting]

    def _new_neighbours(self, schedule: Schedule) -> tuple[Schedule, ...]:
        """The legal schedules that differ in one parameter."""
        draw = self._space.draw_of(schedule)

        def changed() -> Iterator[Schedule]:
            for parameter in self._space.parameters:
                for value in parameter.values:
                    if value != draw[parameter.name]:
                        yield self._space.build({**draw, parameter.name: value})

        return tuple(one for one in dict.fromkeys(changed()) if one in self._space and self._legal(one))

    def _scores(self, points: Floats, features: Floats) -> Floats:
        """How promising candidates are: the expected improvement, or at the start the time model's opinion."""
        known = self._remembered()
        values = [value for value in known.values() if value is not None]
        if not values:
            return -features[:, 1]
        slowest = min(max(values), min(values) + _WORTHLESS)
        self._learn(list(known), np.array([slowest if v is None else min(v, slowest) for v in known.values()]))
        mean, deviation = self._process.predict(points, features)
        better = (min(values) - mean) / deviation
        scores: Floats = deviation * (better * ndtr(better) + np.exp(-(better**2) / 2) / np.sqrt(2 * np.pi))
        return scores

    def _remembered(self) -> dict[Schedule, float | None]:
        """All that was told, or the best and the newest of it."""
        if len(self._told) <= _MOST:
            return self._told
        ok = ((value, number) for number, value in enumerate(self._told.values()) if value is not None)
        kept = {number for _, number in nsmallest(_MOST // 2, ok)} | set(range(len(self._told))[-_MOST // 2 :])
        return {schedule: value for number, (schedule, value) in enumerate(self._told.items()) if number in kept}

    def _learn(self, schedules: Sequence[Schedule], values: Floats) -> None:
        """Fit the process to what is known, then to what is expected of the draws that wait as well."""
        rows = self._rows(schedules)
        if len(self._told) >= max(_FEWEST, _GROWTH * self._tuned_at):
            self._tuned_at = len(self._told)
            self._process.tune(*rows, values)
            self._pool = [*self._pool[_FRESH:], *self._drawn(_FRESH)] if self._space.size > _POOL else self._pool
        self._process.fit(*rows, values)
        if self._waiting:
            waiting = self._rows(list(self._waiting))
            expected, _ = self._process.predict(*waiting)
            points, features = (np.concatenate(pair) for pair in zip(rows, waiting, strict=True))
            self._process.fit(points, features, np.concatenate([values, expected]))

    def _rows(self, schedules: Sequence[Schedule]) -> tuple[Floats, Floats]:
        """Points of the process and features of its mean: one, and the logarithm of the modelled seconds."""
        points, modelled = zip(*map(self._row, schedules), strict=True)
        return np.array(points), np.column_stack([np.ones(len(modelled)), modelled])

    def _new_row(self, schedule: Schedule) -> tuple[Floats, float]:
        return self._encoding.point(self._space.draw_of(schedule)), log(self._predict(schedule))
