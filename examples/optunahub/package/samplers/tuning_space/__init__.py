"""A sampler for spaces of tuning parameters: Bayesian optimisation, with constraints that are known in advance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, log
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from autotune.search_spaces.contract.space import BareSpace, Parameter, Value, values_of
from autotune.search_spaces.contract.trial_space import TrialSpace
from autotune.tuner.search.bayes import BayesSearch
from autotune.tuner.search.schedule_sampler import SpaceSampler

__all__ = ["TuningSpaceSampler"]

_LEVELS = 64  # of a parameter that has more values, so many are tried, in equal steps or in equal ratios


class TuningSpaceSampler(SpaceSampler):
    """Minimises a positive value, such as seconds, over a few hundred trials at most.

    No parameters are proposed twice. Numbers are alike if they are near to each other, words if they are the same. What
    is twice as much as the best counts as bad, and no more is learnt of it.

    Args:
        search_space: the distribution of each parameter, for ``study.ask(search_space)``, or what the objective
            suggests.
        satisfied: whether parameters satisfy the constraints that are known before a trial. By default all do.
        seed: where random numbers start.
    """

    def __init__(
        self,
        search_space: Mapping[str, BaseDistribution],
        satisfied: Callable[[dict[str, Any]], bool] = lambda parameters: True,
        seed: int = 0,
    ) -> None:
        parameters = tuple(Parameter(name, _levels(name, one)) for name, one in search_space.items())
        space = BareSpace(parameters, values_of(parameters))

        def legal(values: tuple[Value, ...]) -> bool:
            return satisfied(dict(space.draw_of(values)))

        super().__init__(_Levels(space, search_space), lambda: BayesSearch(space, legal, None, seed), seed=seed)


class _Levels(TrialSpace):
    """Parameters of any distribution, each as the nearest of its levels."""

    def __init__(self, space: BareSpace, distributions: Mapping[str, BaseDistribution]) -> None:
        super().__init__(space)
        self.distributions = dict(distributions)
        self._levels = {parameter.name: parameter for parameter in space.parameters}

    def schedule_of(self, params: Mapping[str, Any]) -> Any:
        """The tuple of the levels."""
        return super().schedule_of({name: self._nearest(name, value) for name, value in params.items()})

    def _nearest(self, name: str, value: Any) -> Any:
        parameter = self._levels.get(name)
        if parameter is None or value in parameter.values or not parameter.ordered:
            return value
        return min(parameter.values, key=lambda level: abs(level - value))


def _levels(name: str, distribution: BaseDistribution) -> tuple[Value, ...]:
    """The values of a parameter, or some of them."""
    if isinstance(distribution, CategoricalDistribution):
        return tuple(distribution.choices)
    if not isinstance(distribution, FloatDistribution | IntDistribution):
        raise ValueError(f"{name}: {distribution} is neither categorical nor a number")
    low, high, step = distribution.low, distribution.high, distribution.step
    count = _LEVELS if step is None else min(_LEVELS, round((high - low) / step) + 1)
    if count < 2:
        return (low,)
    shares = [number / (count - 1) for number in range(count)]
    if distribution.log:
        found = [exp(log(low) + share * (log(high) - log(low))) for share in shares]
    else:
        found = [low + share * (high - low) for share in shares]
    if step is not None:
        found = [low + step * round((value - low) / step) for value in found]
    return tuple(dict.fromkeys(min(high, max(low, value)) for value in found))
