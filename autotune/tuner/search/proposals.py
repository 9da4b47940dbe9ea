"""Which schedule to try next: what is known to be good first, then what a sampler draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from math import inf
from typing import Any

import optuna
from optuna.trial import TrialState

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
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


@dataclass(frozen=True)
class Candidate:
    """A legal schedule that was not tried before.

    Attributes:
        schedule: the schedule.
        asked: the sampler's trial that it comes from; None for a schedule outside of the search space.
    """

    schedule: Schedule
    asked: optuna.Trial | None


class Proposals(Iterator[Candidate]):
    """Proposes each schedule once at most; the iteration ends when no legal one is left, or none can be found.

    What has no valid time violates a constraint: a sampler learns to avoid it, whereas it would learn nothing from a
    trial that failed. A draw that is illegal or was tried before never comes out: the sampler is told so at once.

    The sampler draws in a study in memory, which costs less than the one that is stored. Of a long run it has the best
    and the newest trials only.

    Args:
        operator, problem, spec: what the schedules are for.
        sampler, seed: a name in `SAMPLERS`, and where its random numbers start.
        first: legal schedules to propose before all others, best guess first.
        known: what was tried before, with its seconds, infinite for a failure.

    Attributes:
        illegal: draws rejected so far.
        exhausted: whether the iteration has ended.
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
    ) -> None:
        self.illegal = 0
        self.exhausted = False
        self._operator, self._problem, self._spec = operator, problem, spec
        space = operator.space(problem, spec)
        self._space = TrialSpace(space)
        self._first = iter(first)
        # Every draw of a small space, one by one; random ones of a large space, without end.
        draws = space.all_draws() if space.size <= _SWEEP else space.random_draws(seed)
        self._sweep = map(space.build, draws)
        # None stands for a schedule that is being tried.
        self._tried: dict[Schedule, float | None] = {}
        # A run that goes on from others must not repeat their random numbers.
        self._sampler = new_sampler(sampler, seed + len(known), operator, problem, spec)
        self._study = optuna.create_study(sampler=self._sampler)
        self._size = 0
        for schedule, seconds in known.items():
            self.tell(self.given(schedule), seconds)

    def prepare(self) -> None:
        """Do what takes long before the first proposal of the sampler, while nothing waits for that yet."""
        if isinstance(self._sampler, ScheduleSampler):
            self._sampler.prepare(self._study)

    def __next__(self) -> Candidate:
        """The next schedule to try; whatever became of it goes to `tell`."""
        candidate = self._from_first() or self._from_sampler() or self._from_sweep()
        if candidate is None:
            self.exhausted = True
            raise StopIteration
        return candidate

    def __contains__(self, schedule: object) -> bool:
        return schedule in self._tried

    def seconds(self, schedule: Schedule) -> float | None:
        """How long a schedule takes, if that is known."""
        return self._tried.get(schedule)

    def given(self, schedule: Schedule) -> Candidate:
        """A legal schedule that was not tried before, in the place of the next one."""
        self._tried[schedule] = None
        if params := self._space.params_of(schedule):
            self._study.enqueue_trial(params)
        return Candidate(schedule, self._ask() if params else None)

    def tell(self, candidate: Candidate, seconds: float) -> None:
        """How long a candidate takes; infinite for a failure."""
        self._tried[candidate.schedule] = seconds
        if candidate.asked:
            self._tell(candidate.asked, seconds, FAILED if seconds == inf else {})

    def _from_first(self) -> Candidate | None:
        return next((self.given(schedule) for schedule in self._first if schedule not in self._tried), None)

    def _from_sampler(self) -> Candidate | None:
        for _ in range(_PATIENCE):
            asked = self._ask()
            candidate = Candidate(self._space.schedule_of(asked.params), asked)
            if violations := self._violations(candidate.schedule):
                self.illegal += 1
                self._tell(asked, inf, {"illegal": len(violations)})  # the more, the further off
            elif candidate.schedule not in self._tried:
                self._tried[candidate.schedule] = None
                return candidate
            elif seconds := self._tried[candidate.schedule]:
                self.tell(candidate, seconds)
            else:  # samplers do not look at trials that failed
                self._study.tell(asked, state=TrialState.FAIL)
        return None

    def _from_sweep(self) -> Candidate | None:
        swept = (one for one in islice(self._sweep, _SWEEP) if one not in self._tried and not self._violations(one))
        return next((self.given(schedule) for schedule in swept), None)

    def _violations(self, schedule: Schedule) -> list[str]:
        return self._operator.violations(self._problem, schedule, self._spec)

    def _ask(self) -> optuna.Trial:
        return self._study.ask(self._space.distributions)

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
