"""The samplers of Optuna as a search: what they draw becomes legal schedules that are new."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from heapq import nsmallest
from math import inf
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.trial import TrialState

from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.space import Space

# Draws in a row that bring nothing new before one is made past the sampler, uniformly: while there are new schedules
# to find, that happens seldom and does no harm (of draws that are half legal, ten illegal ones follow each other once
# in a thousand times).
_PATIENCE = 10
_FAILED = {"failed": 1.0}  # the constraint that a schedule without a valid time violates
# More trials than this, and a sampler forgets all but half as many. Without an end a run on sgemm's space grew by 9 KB
# a trial, and each draw of TPE took longer than the one before.
_MOST_TRIALS = 1000
_BEST_SHARE = 4  # one in so many of those that it keeps is one of the best; TPE learns from 25 of these


class OptunaSearch:
    """Draws in a study of Optuna in memory, which has these draws and what was told, nothing of its own.

    What has no valid time violates a constraint: a sampler learns to avoid it, whereas it would learn nothing from a
    trial that failed. A draw that is illegal or was tried before never comes out: the sampler is told so at once.
    Parameters with integer values are drawn by their position, so that the sampler knows their order. Of a long run
    the study has the best and the newest trials only.

    Args:
        space: what to draw from.
        violations: what makes a schedule illegal.
        sampler: draws.

    Attributes:
        illegal: draws rejected so far.
    """

    def __init__(self, space: Space[Any], violations: Callable[[Any], list[str]], sampler: BaseSampler) -> None:
        self.illegal = 0
        self._space, self._violations = space, violations
        self._distributions: dict[str, BaseDistribution] = {
            one.name: IntDistribution(0, len(one.values) - 1) if one.ordered else CategoricalDistribution(one.values)
            for one in space.parameters
        }
        self._study = optuna.create_study(sampler=sampler)
        self._asked: dict[Schedule, optuna.Trial] = {}  # those that are not told
        self._told: dict[Schedule, float] = {}
        self._size = 0

    def __contains__(self, schedule: object) -> bool:
        return schedule in self._asked or schedule in self._told

    def prepare(self) -> None:
        """Nothing takes long before the first proposal."""

    def propose(self) -> Schedule | None:
        """A new schedule; None if the sampler finds none at once."""
        for _ in range(_PATIENCE):
            asked = self._ask()
            values = {one.name: one.values for one in self._space.parameters if one.ordered}
            drawn = {name: values[name][at] if name in values else at for name, at in asked.params.items()}
            schedule: Schedule = self._space.build(drawn)
            if violations := self._violations(schedule):
                self.illegal += 1
                self._tell(asked, inf, {"illegal": len(violations)})  # the more, the further off
            elif schedule in self._told:
                self._tell(asked, self._told[schedule])
            elif schedule in self._asked:  # samplers do not look at trials that failed
                self._study.tell(asked, state=TrialState.FAIL)
            else:
                self._asked[schedule] = asked
                return schedule
        return None

    def wait_for(self, schedule: Schedule) -> None:
        """A schedule of the space is being tried."""
        if schedule not in self:
            draw = self._space.draw_of(schedule)
            parameters = self._space.parameters
            self._study.enqueue_trial(
                {p.name: p.values.index(draw[p.name]) if p.ordered else draw[p.name] for p in parameters}
            )
            self._asked[schedule] = self._ask()

    def tell(self, schedule: Schedule, seconds: float | None) -> None:
        """How a schedule did; None for a failure."""
        self._told[schedule] = seconds or inf
        if asked := self._asked.pop(schedule, None):
            self._tell(asked, seconds or inf)

    def _ask(self) -> optuna.Trial:
        return self._study.ask(self._distributions)

    def _tell(self, asked: optuna.Trial, seconds: float, constraints: Mapping[str, float] | None = None) -> None:
        for name, violation in (constraints or (_FAILED if seconds == inf else {})).items():
            asked.set_constraint(name, violation)
        with suppress(RuntimeError):  # a sampler that has tried everything wants to stop `Study.optimize`
            self._study.tell(asked, seconds)
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
