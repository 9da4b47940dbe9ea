"""Optuna's study of one search space, in terms of draws and trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from ..db.states import Status
from ..db.trials import Trial, Tried
from ..search_spaces.space import Draw, Parameter
from .samplers import new_sampler

if TYPE_CHECKING:
    import optuna

# More trials than this, and a sampler forgets all but half as many. Without an end a run on sgemm's space grew by 9 KB
# a trial, and each draw of TPE took longer than the one before.
_MOST_TRIALS = 1000
_BEST_SHARE = 4  # one in so many of those that it keeps is one of the best; TPE learns from 25 of these


class Outcome(NamedTuple):
    """What a sampler needs to know of a trial."""

    status: Status
    seconds: float | None

    @classmethod
    def of(cls, trial: Trial | Tried | Outcome) -> Outcome:
        """The outcome of a trial."""
        return cls(trial.status, trial.seconds)


@dataclass(frozen=True)
class Asked:
    """A draw, and Optuna's trial in Optuna's study that waits to be told what became of it."""

    draw: Draw
    trial: optuna.Trial
    study: optuna.Study


class Study:
    """What a sampler has been told; in memory, since the database is what lasts.

    Seconds are to be minimised. What has no valid time (an illegal draw, a wrong kernel) violates a constraint:
    a sampler learns to avoid it, whereas it would learn nothing from a trial that failed.

    Of a long run a sampler remembers the best and the newest trials.

    Args:
        parameters: of the search space.
        sampler, seed: a name in `SAMPLERS`, and where its random numbers start.
    """

    def __init__(self, parameters: Sequence[Parameter], sampler: str, seed: int) -> None:
        import optuna

        self._parameters = parameters
        self._distributions = {p.name: _distribution(p) for p in parameters}
        self._study = optuna.create_study(sampler=new_sampler(sampler, seed))
        self._size = 0

    def prepare(self) -> None:
        """Nothing takes long."""

    def ask(self) -> Asked:
        """What the sampler draws."""
        trial = self._study.ask(self._distributions)
        self._size += 1
        return Asked(self._draw(trial.params), trial, self._study)

    def ask_for(self, draw: Draw) -> Asked:
        """A given draw, in the sampler's place."""
        self._study.enqueue_trial(self._params(draw))
        return self.ask()

    def tell(self, asked: Asked, outcome: Outcome) -> None:
        """How a draw's schedule did."""
        value, constraints = _objective(outcome)
        self._tell(asked, value, constraints)

    def reject(self, asked: Asked, violations: int) -> None:
        """A draw is illegal: the more violations, the further off."""
        self._tell(asked, inf, {Status.ILLEGAL: violations})

    def ignore(self, asked: Asked) -> None:
        """A draw says nothing; samplers do not look at trials that failed."""
        from optuna.trial import TrialState

        asked.study.tell(asked.trial, state=TrialState.FAIL)

    def add(self, draw: Draw, outcome: Outcome) -> None:
        """A draw that was not asked for, and how its schedule did."""
        self._add(draw, *_objective(outcome))

    def _add(self, draw: Draw, value: float, constraints: Mapping[str, float]) -> None:
        from optuna.trial import create_trial

        self._study.add_trial(
            create_trial(
                params=self._params(draw), distributions=self._distributions, value=value, constraints=dict(constraints)
            )
        )
        self._size += 1

    def _tell(self, asked: Asked, value: float, constraints: Mapping[str, float]) -> None:
        if asked.study is self._study:
            for name, violation in constraints.items():
                asked.trial.set_constraint(name, violation)
            self._study.tell(asked.trial, value)
        else:
            self._add(asked.draw, value, constraints)
        if self._size > _MOST_TRIALS:
            self._forget()

    def _forget(self) -> None:
        """Go on with a new study of the best and the newest trials; draws that are waiting come to it when told."""
        import optuna

        # What violates a constraint has an infinite value, so that it is never among the best.
        told = self._study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.COMPLETE])
        kept = _MOST_TRIALS // 2
        best = nsmallest(kept // _BEST_SHARE, told, key=lambda trial: trial.values[0])
        numbers = {trial.number for trial in [*best, *told[len(best) - kept :]]}
        self._study = optuna.create_study(sampler=self._study.sampler)
        self._study.add_trials(trial for trial in told if trial.number in numbers)
        self._size = len(numbers)

    def _params(self, draw: Draw) -> dict[str, Any]:
        return {p.name: p.values.index(draw[p.name]) if p.ordered else draw[p.name] for p in self._parameters}

    def _draw(self, params: Mapping[str, Any]) -> Draw:
        return {p.name: p.values[params[p.name]] if p.ordered else params[p.name] for p in self._parameters}


def _objective(outcome: Outcome) -> tuple[float, dict[str, float]]:
    """The value to minimise, and the constraints, of which one above 0 is violated."""
    if outcome.status is Status.OK and outcome.seconds is not None:
        return outcome.seconds, {}
    return inf, {outcome.status: 1.0}


def _distribution(parameter: Parameter) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if parameter.ordered:  # a sampler draws their positions
        return IntDistribution(0, len(parameter.values) - 1)
    return CategoricalDistribution(parameter.values)
