"""Which schedule to try next: what is known to be good first, then what a search proposes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from math import inf
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.stored_study import StoredStudy
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .samplers import new_search

_SWEEP = 10_000


class Proposals(Iterator[Schedule]):
    """Proposes each schedule once at most; the iteration ends when no legal one is left, or none can be found.

    With a study, what comes out is claimed there, so no other tuner has it; what others try and find out is learnt from
    there, as if it had been asked for here; and what is left of those that are over comes first.

    The search hears of all this. It knows nothing of a schedule that is outside of the space.

    Args:
        operator, problem, spec: what the schedules are for.
        sampler, seed: a name in `SAMPLERS`, and where its random numbers start.
        first: legal schedules to propose before all others, best guess first.
        known: what was tried before, with its seconds, infinite for a failure.
        study: what tuners share; None for a search of its own, which is told by `tell`.

    Attributes:
        exhausted: whether the iteration has ended.
        others: how many results of other tuners were learnt.
    """

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        spec: DeviceSpec,
        sampler: str,
        seed: int,
        first: Iterable[Schedule],
        known: Mapping[Schedule, float],
        study: StoredStudy | None = None,
    ) -> None:
        self.others = 0
        self.exhausted = False
        self._operator, self._problem, self._spec, self._shared = operator, problem, spec, study
        self._space = space = operator.space(problem, spec)
        self._first = iter(first)
        # Every draw of a small space, one by one; random ones of a large space, without end.
        draws = space.all_draws() if space.size <= _SWEEP else space.random_draws(seed)
        self._sweep = map(space.build, draws)
        # None stands for a schedule that is being tried, here or elsewhere.
        self._tried: dict[Schedule, float | None] = {}
        self._claimed: set[Schedule] = set()  # by this tuner
        self._free: list[Schedule] = []
        # A run that goes on from others must not repeat their random numbers.
        self._search = new_search(sampler, seed + len(known), operator, problem, spec)
        for schedule, seconds in known.items():
            self._given(schedule)
            self.tell(schedule, seconds)
        self.learn()

    @property
    def illegal(self) -> int:
        """Draws rejected so far."""
        return self._search.illegal

    def prepare(self) -> None:
        """Do what takes the next proposal of the search long, while nothing waits for that yet."""
        self._search.prepare()

    def __next__(self) -> Schedule:
        """The next schedule to try."""
        while schedule := self._from_free() or self._from_first() or self._from_search() or self._from_sweep():
            if self._claim(schedule):
                return schedule
            self.learn()
        self.exhausted = True
        raise StopIteration

    def take(self, schedule: Schedule) -> bool:
        """Whether a legal schedule is to be tried in the place of the next: it was not, and no other tuner has it."""
        self.learn()
        if self._tried.get(schedule):
            return False
        self._given(schedule)
        return self._claim(schedule)

    def learn(self, last: int | None = None) -> None:
        """Take in what the study knows, of what ended up to the number `last`."""
        if not self._shared:
            return
        news = self._shared.news(last)
        self._free = self._legal(news.free)
        for schedule in self._legal(news.claimed):
            self._given(schedule)
        for fields, seconds in news.ended:
            for schedule in self._legal([fields]):
                if not self._tried.get(schedule):
                    self.others += schedule not in self._claimed
                    self._given(schedule)
                    self.tell(schedule, inf if seconds is None else seconds)

    def tell(self, schedule: Schedule, seconds: float) -> None:
        """How long a schedule takes that was proposed; infinite for a failure."""
        self._tried[schedule] = seconds
        if schedule in self._search:
            self._search.tell(schedule, seconds if seconds < inf else None)

    def _given(self, schedule: Schedule) -> Schedule:
        """Let a legal schedule count as being tried, unless it was."""
        if schedule not in self._tried:
            self._tried[schedule] = None
            if schedule in self._space:
                self._search.wait_for(schedule)
        return schedule

    def _claim(self, schedule: Schedule) -> bool:
        if self._shared and not self._shared.claim(schedule):
            return False
        self._claimed.add(schedule)
        return True

    def _legal(self, listed: Iterable[Mapping[str, Any]]) -> list[Schedule]:
        """The schedules of these fields that are legal here; those of another version may not even be known."""
        found = []
        for fields in listed:
            with suppress(ValueError, LookupError):
                schedule = self._operator.schedule(fields)
                if not self._violations(schedule):
                    found.append(schedule)
        return found

    def _from_free(self) -> Schedule | None:
        while self._free:
            schedule = self._free.pop(0)
            if not self._tried.get(schedule):
                return self._given(schedule)
        return None

    def _from_first(self) -> Schedule | None:
        return next((self._given(schedule) for schedule in self._first if schedule not in self._tried), None)

    def _from_search(self) -> Schedule | None:
        schedule = self._search.propose()
        if schedule:
            self._tried[schedule] = None
            self._search.wait_for(schedule)
        return schedule

    def _from_sweep(self) -> Schedule | None:
        swept = (one for one in islice(self._sweep, _SWEEP) if one not in self._tried and not self._violations(one))
        return next((self._given(schedule) for schedule in swept), None)

    def _violations(self, schedule: Schedule) -> list[str]:
        return self._operator.violations(self._problem, schedule, self._spec)
