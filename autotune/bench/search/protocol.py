"""How well searches do on measured spaces: the score that the auto-tuning community has agreed upon.

Willemsen, Schoonhoven, Filipovič, Tørring, van Nieuwpoort, van Werkhoven: A methodology for comparing optimization
algorithms for auto-tuning, Future Generation Computer Systems, 2024; as autotuning-methodology 1.1 computes it. Time is
that of evaluations and of the search itself. A search is followed until random search is expected to have gained so
much of what there is to gain from the median to the optimum. What counts at each moment is how far the search is from
there to the optimum: 0 is no better than random search, 1 is the optimum, less than 0 is worse than random search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from math import ceil, inf

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import isotonic_regression

from autotune.tuner.search.gaussian_process import Floats

from .measured_space import MeasuredSpace, Outcome

CUTOFF = 0.96  # of what there is to gain from the median to the optimum
_START = 0.01  # the same, where following a search begins
_MARGIN = 0.1  # more seconds than are scored, so that the end of a curve is known, too
_MOMENTS = 1000


class Protocol:
    """What a space and its random search say about how searches are compared.

    Args:
        space: the space.
        cutoff: what random search is to have gained at the end.
    """

    def __init__(self, space: MeasuredSpace, cutoff: float = CUTOFF) -> None:
        outcomes = list(space.outcomes.values())
        self._times = np.sort([outcome.time for outcome in outcomes if outcome.time < inf])
        seconds = np.array([outcome.seconds for outcome in outcomes])
        failed = np.array([outcome.time == inf for outcome in outcomes])
        self._each = float(seconds[~failed].mean() + (seconds[failed].sum() / len(outcomes) if failed.any() else 0.0))
        self._median_seconds = float(np.median(seconds))
        start, end = self._evaluations(_START), self._evaluations(cutoff)
        self.evaluations = max(end, start + 2)
        self._moments = np.linspace(start * self._median_seconds, self.evaluations * self._median_seconds, _MOMENTS)

    @property
    def seconds(self) -> float:
        """How long a search is followed."""
        return float(self._moments[-1]) * (1 + _MARGIN)

    def _evaluations(self, gained: float) -> int:
        """How many random search is expected to make until it has gained so much."""
        best, middle = self._times[0], np.median(self._times)
        fast = np.count_nonzero(self._times <= best + (middle - best) * (1 - gained))
        slower = len(self._times) - max(fast, 2 if gained < 1 else 1)
        return ceil(slower / (len(self._times) + 1 - slower))

    @cached_property
    def random(self) -> Floats:
        """Expected time of the best kernel of random search, at each moment."""
        counts = np.round(np.maximum(self._moments / self._each, 1)).astype(int)
        number = len(self._times)
        ranks = np.minimum(number - 1, np.round(counts * (number + 1) / (counts + 1)).astype(int))
        # Never the optimum itself, to which it would be no way to go. Only in tiny spaces would it come to that.
        found = np.maximum(self._times[::-1][ranks], self._times[self._times > self._times[0]][0])
        distinct = np.concatenate([[True], np.diff(counts) > 0])
        if np.count_nonzero(distinct) < 2:
            return np.asarray(found, np.float64)
        smooth = PchipInterpolator(counts[distinct], found[distinct])
        return np.asarray(smooth(np.linspace(counts[0], counts[-1], len(counts))), np.float64)

    def curve(self, runs: Sequence[Iterable[Outcome]]) -> Floats:
        """Standardised performance of a search at each moment, from its runs with different seeds."""
        pairs = [pair for run in runs for pair in self._progress(run)]
        moments, ranks = np.array(sorted(pairs)).T
        when, first, count = np.unique(moments, return_index=True, return_counts=True)
        mean = np.add.reduceat(ranks, first) / count
        falling = isotonic_regression(mean, weights=count, increasing=False).x
        expected = np.interp(self._moments, when, falling)
        found = self._times[np.clip(np.round(expected), 0, len(self._times) - 1).astype(int)]
        return np.asarray((found - self.random) / (self._times[0] - self.random), np.float64)

    def _progress(self, run: Iterable[Outcome]) -> list[tuple[float, int]]:
        """The seconds of each evaluation with the rank of the best kernel by then, within what is followed."""
        outcomes = list(run)
        seconds = list(accumulate(outcome.seconds for outcome in outcomes))
        best = list(accumulate((outcome.time for outcome in outcomes), min))
        # A search that has found the optimum, or no more, stays there.
        while seconds[-1] < self.seconds:
            seconds.append(seconds[-1] + self._median_seconds)
            best.append(best[-1])
        low, high = self._moments[0] * (1 - _MARGIN), self.seconds
        ranks = np.searchsorted(self._times, best)
        return [
            (at, rank) for at, rank, time in zip(seconds, ranks, best, strict=True) if low <= at <= high and time < inf
        ]
