"""A search space in Optuna's terms: distributions, and the schedule of a trial's parameters."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

from autotune.codegen.model.schedule import Schedule

from .space import Draw, Parameter, Space


class TrialSpace:
    """Parameters with integer values are drawn by their position, so that a sampler knows their order.

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
        draw = {p.name: p.values[params[p.name]] if p.ordered else params[p.name] for p in self._space.parameters}
        schedule: Schedule = self._space.build(draw)
        return schedule

    def params_of(self, schedule: Schedule) -> dict[str, Any] | None:
        """The parameters that `schedule_of` makes a schedule of; None if it is outside of the space."""
        with suppress(ValueError):
            return self.params(self._space.draw_of(schedule))
        return None

    def params(self, draw: Draw) -> dict[str, Any]:
        """The parameters of a draw."""
        return {p.name: p.values.index(draw[p.name]) if p.ordered else draw[p.name] for p in self._space.parameters}


def _distribution(parameter: Parameter) -> BaseDistribution:
    if parameter.ordered:
        return IntDistribution(0, len(parameter.values) - 1)
    return CategoricalDistribution(parameter.values)
