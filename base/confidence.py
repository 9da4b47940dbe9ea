"""How sure a median of times is, without assuming how times are distributed: they have tails to one side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import comb, inf
from statistics import median


@dataclass(frozen=True)
class Interval:
    """An estimate, and the bounds between which the true value lies with the confidence asked for."""

    low: float
    middle: float
    high: float


def median_interval(samples: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median, between two of the samples in their order (Conover: Practical Nonparametric Statistics, 3.2).

    As many samples lie below the true median as heads fall when each tosses a coin; for too few samples to say
    anything with that confidence the bounds are infinite.

    Raises:
        ValueError: no samples.
    """
    if not samples:
        raise ValueError("a median of no samples: expected one or more")
    ordered = sorted(samples)
    rank = _rank(len(ordered), confidence)
    low, high = (ordered[rank - 1], ordered[-rank]) if rank else (-inf, inf)
    return Interval(low, median(ordered), high)


def ratio_interval(ours: Sequence[float], theirs: Sequence[float], confidence: float = 0.95) -> Interval:
    """The median ratio of two contenders' times that were taken in turns; below 1 ours is faster.

    A clock that drifts meets both samples of a turn, so that it cancels.

    Raises:
        ValueError: no samples, or not as many of each.
    """
    return median_interval([a / b for a, b in zip(ours, theirs, strict=True)], confidence)


def lower_bound_exceeds(samples: Sequence[float], limit: float, confidence: float = 0.99) -> bool:
    """Whether the lower confidence bound of the median is above a limit."""
    return median_interval(samples, 2 * confidence - 1).low > limit


@cache
def _rank(count: int, confidence: float) -> int:
    """The rank of the bounds from either end, counted from 1; 0 if there are too few samples for the confidence."""
    # The smallest number of heads that is not improbable: one fewer has at most half of the error allowed.
    # (SciPy's binomial distribution says the same, and takes half a second to import while a device waits.)
    improbable = (1 - confidence) / 2 * 2**count
    rank, ways = 0, 1
    while ways < improbable:
        rank += 1
        ways += comb(count, rank)
    return rank
