"""Optuna's study of one search space, in terms of draws and trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

from ..db.records import Trial
from ..db.states import Status
from ..search_spaces.space import Draw, Parameter
from .samplers import new_sampler

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Asked:
    """A draw, and Optuna's trial that waits to be told what became of it."""

    draw: Draw
    trial: optuna.Trial


class Study:
    """What a sampler has been told; in memory, since the database is what lasts.

    Seconds are to be minimised. What has no valid time (an illegal draw, a wrong kernel) violates a constraint:
    a sampler learns to avoid it, whereas it would learn nothing from a trial that failed.

    Args:
        parameters: of the search space.
        sampler, seed: a name in `SAMPLERS`, and where its random numbers start.
    """

    def __init__(self, parameters: Sequence[Parameter], sampler: str, seed: int) -> None:
        import optuna

        self._parameters = parameters
        self._distributions = {p.name: _distribution(p) for p in parameters}
        self._study = optuna.create_study(sampler=new_sampler(sampler, seed))

    def ask(self) -> Asked:
        """What the sampler draws."""
        trial = self._study.ask(self._distributions)
        return Asked(self._draw(trial.params), trial)

    def ask_for(self, draw: Draw) -> Asked:
        """A given draw, in the sampler's place."""
        self._study.enqueue_trial(self._params(draw))
        return self.ask()

    def tell(self, asked: Asked, trial: Trial) -> None:
        """How a draw's schedule did."""
        value, constraints = _outcome(trial)
        self._tell(asked, value, constraints)

    def reject(self, asked: Asked, violations: int) -> None:
        """A draw is illegal: the more violations, the further off."""
        self._tell(asked, inf, {Status.ILLEGAL: violations})

    def ignore(self, asked: Asked) -> None:
        """A draw says nothing; samplers do not look at trials that failed."""
        from optuna.trial import TrialState

        self._study.tell(asked.trial, state=TrialState.FAIL)

    def add(self, draw: Draw, trial: Trial) -> None:
        """A draw that was not asked for, and how its schedule did."""
        from optuna.trial import create_trial

        value, constraints = _outcome(trial)
        self._study.add_trial(
            create_trial(
                params=self._params(draw), distributions=self._distributions, value=value, constraints=constraints
            )
        )

    def _tell(self, asked: Asked, value: float, constraints: Mapping[str, float]) -> None:
        for name, violation in constraints.items():
            asked.trial.set_constraint(name, violation)
        self._study.tell(asked.trial, value)

    def _params(self, draw: Draw) -> dict[str, Any]:
        return {p.name: p.values.index(draw[p.name]) if p.ordered else draw[p.name] for p in self._parameters}

    def _draw(self, params: Mapping[str, Any]) -> Draw:
        return {p.name: p.values[params[p.name]] if p.ordered else params[p.name] for p in self._parameters}


def _outcome(trial: Trial) -> tuple[float, dict[str, float]]:
    """The value to minimise, and the constraints, of which one above 0 is violated."""
    if trial.status is Status.OK and trial.seconds is not None:
        return trial.seconds, {}
    return inf, {trial.status: 1.0}


def _distribution(parameter: Parameter) -> optuna.distributions.BaseDistribution:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if parameter.ordered:  # a sampler draws their positions
        return IntDistribution(0, len(parameter.values) - 1)
    return CategoricalDistribution(parameter.values)
