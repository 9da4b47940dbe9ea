"""Which schedule to try next: what is known to be good first, then what a sampler draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import nsmallest
from itertools import islice
from math import inf
from typing import Any

import optuna
from optuna.trial import TrialState

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.stored_study import StoredStudy
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.trial_space import TrialSpace
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .samplers import new_sampler
from .schedule_sampler import ScheduleSampler

# Draws in a row that bring nothing new before one is made past the sampler, uniformly: while there are new schedules
# to find, that happens seldom and does no harm (of draws that are half legal, ten illegal ones follow each other once
# in a thousand times).
_PATIENCE = 10
_SWEEP = 10_000
FAILED = {"failed": 1.0}  # the constraint that a schedule without a valid time violates
# More trials than this, and a sampler forgets all but half as many. Without an end a run on sgemm's space grew by 9 KB
# a trial, and each draw of TPE took longer than the one before.
_MOST_TRIALS = 1000
_BEST_SHARE = 4  # one in so many of those that it keeps is one of the best; TPE learns from 25 of these


class Proposals(Iterator[Schedule]):
    """Proposes each schedule once at most; the iteration ends when no legal one is left, or none can be found.

    What has no valid time violates a constraint: a sampler learns to avoid it, whereas it would learn nothing from a
    trial that failed. A draw that is illegal or was tried before never comes out: the sampler is told so at once.

    With a study, what comes out is claimed there, so no other tuner has it; what others try and find out is learnt from
    there, as if it had been asked for here; and what is left of those that are over comes first.

    The sampler sees all this in a study of Optuna in memory, which has its draws and what was learnt, nothing of its
    own. Of a long run that has the best and the newest trials only.

    Args:
        operator, problem, spec: what the schedules are for.
        sampler, seed: a name in `SAMPLERS`, and where its random numbers start.
        first: legal schedules to propose before all others, best guess first.
        known: what was tried before, with its seconds, infinite for a failure.
        study: what tuners share; None for a search of its own, which is told by `tell`.

    Attributes:
        illegal: draws rejected so far.
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
        self.illegal = self.others = 0
        self.exhausted = False
        self._operator, self._problem, self._spec, self._shared = operator, problem, spec, study
        space = operator.space(problem, spec)
        self._space = TrialSpace(space)
        self._first = iter(first)
        # Every draw of a small space, one by one; random ones of a large space, without end.
        draws = space.all_draws() if space.size <= _SWEEP else space.random_draws(seed)
        self._sweep = map(space.build, draws)
        # None stands for a schedule that is being tried, here or elsewhere.
        self._tried: dict[Schedule, float | None] = {}
        self._claimed: set[Schedule] = set()  # by this tuner
        self._free: list[Schedule] = []
        self._asked: dict[Schedule, optuna.Trial] = {}  # the sampler's trials that are not told
        # A run that goes on from others must not repeat their random numbers.
        self._sampler = new_sampler(sampler, seed + len(known), operator, problem, spec)
        self._study = optuna.create_study(sampler=self._sampler)
        self._size = 0
        for schedule, seconds in known.items():
            self._given(schedule)
            self.tell(schedule, seconds)
        self.learn()

    def prepare(self) -> None:
        """Do what takes long before the first proposal of the sampler, while nothing waits for that yet."""
        if isinstance(self._sampler, ScheduleSampler):
            self._sampler.prepare(self._study)

    def __next__(self) -> Schedule:
        """The next schedule to try."""
        while schedule := self._from_free() or self._from_first() or self._from_sampler() or self._from_sweep():
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
        if asked := self._asked.pop(schedule, None):
            self._tell_time(asked, seconds)

    def _given(self, schedule: Schedule) -> Schedule:
        """Let a legal schedule count as being tried, unless it was."""
        if schedule not in self._tried:
            self._tried[schedule] = None
            if params := self._space.params_of(schedule):
                self._study.enqueue_trial(params)
                self._asked[schedule] = self._ask()
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

    def _from_sampler(self) -> Schedule | None:
        for _ in range(_PATIENCE):
            asked = self._ask()
            schedule = self._space.schedule_of(asked.params)
            if violations := self._violations(schedule):
                self.illegal += 1
                self._tell(asked, inf, {"illegal": len(violations)})  # the more, the further off
            elif schedule not in self._tried:
                self._tried[schedule] = None
                self._asked[schedule] = asked
                return schedule
            elif seconds := self._tried[schedule]:
                self._tell_time(asked, seconds)
            else:  # samplers do not look at trials that failed
                self._study.tell(asked, state=TrialState.FAIL)
        return None

    def _from_sweep(self) -> Schedule | None:
        swept = (one for one in islice(self._sweep, _SWEEP) if one not in self._tried and not self._violations(one))
        return next((self._given(schedule) for schedule in swept), None)

    def _violations(self, schedule: Schedule) -> list[str]:
        return self._operator.violations(self._problem, schedule, self._spec)

    def _ask(self) -> optuna.Trial:
        return self._study.ask(self._space.distributions)

    def _tell_time(self, asked: optuna.Trial, seconds: float) -> None:
        self._tell(asked, seconds, FAILED if seconds == inf else {})

    def _tell(self, asked: optuna.Trial, value: float, constraints: Mapping[str, float]) -> None:
        for name, violation in constraints.items():
            asked.set_constraint(name, violation)
        with suppress(RuntimeError):  # a sampler that has tried everything wants to stop `Study.optimize`
            self._study.tell(asked, value)
        self._size += 1
        if self._size > _MOST_TRIALS:
            self._forget()

    def _forget(self) -> None:
        # What violates a constraint has an infinite value, so that it is never among the best.
        told = self._study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
        self._size = _MOST_TRIALS // 2
        best = nsmallest(self._size // _BEST_SHARE, told, key=lambda trial: trial.values[0])
        kept = {trial.number for trial in [*best, *told[len(best) - self._size :]]}
        for trial in told:
            if trial.number not in kept:
                trial.state, trial.params, trial.distributions, trial.system_attrs = TrialState.FAIL, {}, {}, {}
