"""How large a search space is, and how much of it is legal on a device."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import sqrt

from autotune.search_spaces.machine.device_spec import DeviceSpec

from .kernel import P, S
from .operator import Operator


@dataclass(frozen=True)
class SpaceSize:
    """The number of draws of a search space.

    Attributes:
        raw: all draws, exactly.
        legal: draws that build a legal schedule; exact if `standard_error` is 0 because every draw was checked.
        standard_error: of the estimate of `legal`.
    """

    raw: int
    legal: float
    standard_error: float


def space_size(operator: Operator[P, S], problem: P, spec: DeviceSpec, draws: int = 1000, seed: int = 0) -> SpaceSize:
    """Count the draws of an operator's space, and the legal ones among them.

    A space of at most `draws` draws is enumerated. The legal share of a larger one is estimated from `draws` uniform
    draws made from `seed`, with the standard error of a binomial proportion by Agresti and Coull (two successes and
    two failures added), which stays positive where every draw of the sample was legal, or none.
    """
    space = operator.space(problem, spec)
    enumerable = space.size <= draws
    sample = space.all_draws() if enumerable else islice(space.random_draws(seed), draws)
    legal = sum(not operator.violations(problem, space.build(draw), spec) for draw in sample)
    if enumerable:
        return SpaceSize(space.size, legal, 0.0)
    share = (legal + 2) / (draws + 4)
    return SpaceSize(space.size, space.size * legal / draws, space.size * sqrt(share * (1 - share) / (draws + 4)))
