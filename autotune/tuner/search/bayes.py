"""Bayesian optimisation: a Gaussian process learns how the time model is wrong, and says what is worth trying.

What is proposed has the largest expected improvement (Jones, Schonlau, Welch: Efficient global optimization of
expensive black-box functions, 1998) among random schedules and the neighbours of the best. Before anything is known
that is what the time model finds fastest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from heapq import nsmallest
from itertools import islice
from math import log
from operator import itemgetter
from random import Random
from typing import Any, Generic

import numpy as np

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.space import S, Space
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .candidates import Candidates, worthwhile
from .gaussian_process import Encoding, Floats, GaussianProcess
from .launch_shape import Expected, LaunchShape, expected

_POOL = 1000  # random schedules to choose from
# The same where nothing is expected of schedules, so that each costs next to nothing: of 4,000 configurations a search
# had better know all. With 1000 the mean score on four measured spaces (docs/recordings.md) was 0.66, with these 0.70.
_UNMODELLED_POOL = 5000
_PATIENCE = 10  # draws for each of those, at most, where most draws are illegal
_FRESH = 100  # schedules that are drawn anew when the process is tuned
_BEST = 10  # schedules whose neighbours are chosen from, too
_FEWEST = 4  # values that say anything about the process
_GROWTH, _STEP = 1.2, 50  # it is tuned again when so many times as much is known, or so many values more
# Values that the process is tuned to, and that it takes in, half of them the best and half the newest: both take time
# that grows with their cube.
_TUNED_TO, _MOST = 120, 250


def bayes_search(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, seed: int) -> BayesSearch[Any]:
    """The search for a problem on a device."""
    return BayesSearch(
        operator.space(problem, spec),
        lambda schedule: not operator.violations(problem, schedule, spec),
        lambda schedule: expected(operator, problem, schedule, spec),
        seed,
    )


class BayesSearch(Generic[S]):
    """A search that proposes legal schedules only, and none that waits or was told.

    A schedule that waits to be told counts with the time that is expected of it (Ginsbourger, Le Riche, Carraro:
    Kriging is well-suited to parallelize optimization, 2010). One that failed counts as slow as the slowest.

    Args:
        space: what to draw from.
        legal: whether a schedule is legal.
        expected: what is known of a legal schedule before it is tried; None if that is nothing.
        seed: where random numbers start.

    Attributes:
        draw_of: the draw of a schedule, as `Space.draw_of` finds it.
        illegal: none of its draws comes out that is rejected.
    """

    illegal = 0

    def __init__(
        self, space: Space[S], legal: Callable[[S], bool], expected: Callable[[S], Expected] | None, seed: int
    ) -> None:
        self._space, self._legal, self._expected = space, legal, expected
        # Every draw of a small space is in the pool from the start; which is first matters where nothing is expected.
        self._pool_size, self._patience = (_POOL, 1) if expected else (_UNMODELLED_POOL, _PATIENCE)
        small = list(space.all_draws()) if space.size <= self._pool_size else []
        if expected is None:
            Random(seed).shuffle(small)
        self._draws = iter(small) if small else space.random_draws(seed)
        self._encoding = Encoding(space.parameters, len(LaunchShape._fields) if expected else 0)
        self._process = GaussianProcess(self._encoding, features=2 if expected else 1)
        self._told: dict[S, float | None] = {}  # logarithms of seconds; None for a failure
        self._waiting: dict[S, None] = {}
        self._best: list[tuple[float, S]] = []
        self._near: set[S] = set()  # the best, those whose neighbours can be chosen
        self._pool: list[S] = []
        self._candidates: Candidates[S] | None = None  # with the present covariance, and what was told since in order
        self._tune_at = _FEWEST
        self.draw_of = lru_cache(maxsize=4 * self._pool_size)(space.draw_of)
        self._row = lru_cache(maxsize=4 * self._pool_size)(self._new_row)
        self._neighbours = lru_cache(maxsize=10 * _BEST)(self._new_neighbours)

    def __contains__(self, schedule: object) -> bool:
        return schedule in self._told or schedule in self._waiting

    def prepare(self) -> Candidates[S] | None:
        """Draw and model the schedules to choose from, as far as `propose` would have to; None if none is legal."""
        if self._candidates is None or len(self._told) >= self._tune_at:
            self._candidates = self._new_candidates()
            self._near.clear()
        if self._candidates is None:
            return None
        for _, best in self._best:
            if best not in self._near:
                self._near.add(best)
                self._candidates.add(self._new(self._neighbours(best)))
        return self._candidates

    def propose(self) -> S | None:
        """The most promising schedule; None if no new one is known."""
        candidates = self.prepare()
        return candidates.most_promising() if candidates else None

    def wait_for(self, schedule: S) -> None:
        """A schedule is being tried."""
        if schedule in self:
            return
        self._waiting[schedule] = None
        if self._candidates:
            self._candidates.add([schedule])
            self._candidates.choose([schedule])

    def give_up(self, schedule: S) -> None:
        """A schedule is not being tried after all."""
        if schedule in self._waiting:
            del self._waiting[schedule]
            self._candidates = None

    def tell(self, schedule: S, seconds: float | None) -> None:
        """How a schedule did; None for a failure."""
        value = log(seconds) if seconds else None
        self._waiting.pop(schedule, None)
        self._told[schedule] = value
        if self._candidates and not self._candidates.tell(schedule, value):
            self._candidates = None
        if value is not None:
            self._best = nsmallest(_BEST, [*self._best, (value, schedule)], key=itemgetter(0))

    def _new_candidates(self) -> Candidates[S] | None:
        """Random schedules, and what was chosen before."""
        fresh = 0 if self._pool else self._pool_size
        if len(self._told) >= self._tune_at:
            self._tune_at = int(min(_GROWTH * len(self._told), len(self._told) + _STEP)) + 1
            known = self._remembered(_TUNED_TO)
            if any(value is not None for value in known.values()):
                self._process.tune(*self._rows(list(known)), worthwhile(list(known.values())))
            fresh = fresh or (_FRESH if self._space.size > self._pool_size else 0)
        self._pool = [*self._new(self._pool[fresh:]), *self._new(self._drawn(fresh))]
        known = self._remembered(_MOST)
        listed = list(dict.fromkeys([*self._pool, *known, *self._waiting]))
        if not listed:
            return None
        candidates = Candidates(self._process, self._rows, listed)
        candidates.choose(list(known))
        for schedule, value in known.items():
            candidates.tell(schedule, value)
        candidates.choose(list(self._waiting))
        return candidates

    def _new(self, schedules: Iterable[S]) -> list[S]:
        return [one for one in schedules if one not in self]

    def _drawn(self, count: int) -> list[S]:
        """So many legal schedules at most, of random draws."""
        built = (self._space.build(draw) for draw in islice(self._draws, self._patience * count))
        return list(dict.fromkeys(islice(filter(self._legal, built), count)))

    def _new_neighbours(self, schedule: S) -> tuple[S, ...]:
        """The legal schedules that differ in one parameter."""
        draw = self.draw_of(schedule)

        def changed() -> Iterator[S]:
            for parameter in self._space.parameters:
                for value in parameter.values:
                    if value != draw[parameter.name]:
                        yield self._space.build({**draw, parameter.name: value})

        return tuple(one for one in dict.fromkeys(changed()) if self._legal(one) and self._in_space(one))

    def _in_space(self, schedule: S) -> bool:
        with suppress(ValueError):
            return bool(self.draw_of(schedule))
        return False

    def _remembered(self, count: int) -> dict[S, float | None]:
        """All that was told, or so much of it: the best and the newest."""
        if len(self._told) <= count:
            return self._told
        ok = ((value, number) for number, value in enumerate(self._told.values()) if value is not None)
        kept = {number for _, number in nsmallest(count // 2, ok)} | set(range(len(self._told))[-count // 2 :])
        return {schedule: value for number, (schedule, value) in enumerate(self._told.items()) if number in kept}

    def _rows(self, schedules: Sequence[S]) -> tuple[Floats, Floats]:
        """Points of the process and features of its mean: one, and the logarithm of the modelled seconds if known."""
        points, features = zip(*map(self._row, schedules), strict=True)
        return np.array(points), np.array(features)

    def _new_row(self, schedule: S) -> tuple[Floats, tuple[float, ...]]:
        draw = self.draw_of(schedule)
        if self._expected is None:
            return self._encoding.point(draw), (1.0,)
        known = self._expected(schedule)
        return self._encoding.point(draw, known.shape), (1.0, log(known.seconds))
