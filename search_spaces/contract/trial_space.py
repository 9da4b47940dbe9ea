"""A search space in Optuna's terms: distributions, and the schedule of a trial's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from autotune.codegen.model.schedule import Schedule

from .space import Parameter, Space


class TrialSpace:
    """A trial's parameters are the values of a draw: numbers in equal steps have an order, others are categories.

    Args:
        space: what to draw from, such as ``operator.space(problem, spec)``.

    Attributes:
        distributions: by parameter, for ``study.ask(distributions)``.
    """

    def __init__(self, space: Space[Any]) -> None:
        self._space = space
        self.distributions: dict[str, BaseDistribution] = {p.name: _distribution(p) for p in space.parameters}

    def schedule_of(self, params: Mapping[str, Any]) -> Schedule:
        """The schedule of a trial's parameters.

        Raises:
            ValueError: they are not those of this space.
        """
        if params.keys() < self.distributions.keys():
            raise ValueError(f"parameters {', '.join(params) or 'none'}: expected {', '.join(self.distributions)}")
        schedule: Schedule = self._space.build({name: params[name] for name in self.distributions})
        return schedule

    def params_of(self, schedule: Schedule) -> dict[str, Any] | None:
        """The parameters that `schedule_of` makes a schedule of; None if it is outside of the space."""
        with suppress(ValueError):
            return dict(self._space.draw_of(schedule))
        return None


def _distribution(parameter: Parameter) -> BaseDistribution:
    values = [value for value in parameter.values if type(value) is int]
    if parameter.ordered and len(values) > 1:
        step = values[1] - values[0]
        if values == [values[0] + step * number for number in range(len(values))] and step > 0:
            return IntDistribution(values[0], values[-1], step=step)
    return CategoricalDistribution(parameter.values)
