"""Schedules to choose from and those that were chosen, and which one promises most."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import Generic

import numpy as np
from scipy.special import ndtr

from autotune.search_spaces.contract.space import S

from .gaussian_process import Floats, GaussianProcess
from .posterior import Posterior

_WORTHLESS = log(2)  # all that is twice as slow as the best counts as just that: only what is fast needs telling apart


class Candidates(Generic[S]):
    """What a process with its present covariance believes of some schedules.

    Args:
        process: the process.
        rows: the points and the features of schedules.
        schedules: to choose from, each once.
    """

    def __init__(
        self, process: GaussianProcess, rows: Callable[[Sequence[S]], tuple[Floats, Floats]], schedules: Sequence[S]
    ) -> None:
        self._rows = rows
        self._schedules = list(schedules)
        self._indices = {schedule: index for index, schedule in enumerate(schedules)}
        self._posterior = Posterior(process, *rows(schedules))
        self._chosen: list[S] = []
        self._open = np.ones(len(schedules), dtype=bool)
        self._values: list[float | None] = []

    def add(self, schedules: Iterable[S]) -> None:
        """More to choose from, as far as they are new."""
        new = [schedule for schedule in dict.fromkeys(schedules) if schedule not in self._indices]
        if new:
            self._posterior.extend(*self._rows(new))
            self._indices.update({schedule: index for index, schedule in enumerate(new, len(self._schedules))})
            self._schedules += new
            self._open = np.append(self._open, np.ones(len(new), dtype=bool))

    def choose(self, schedules: Sequence[S]) -> None:
        """Take some out, which `tell` is to hear of."""
        if schedules:
            indices = [self._indices[schedule] for schedule in schedules]
            self._posterior.observe(indices)
            self._open[indices] = False
            self._chosen += schedules

    def tell(self, schedule: S, value: float | None) -> bool:
        """The logarithm of a chosen one's seconds, None for a failure; whether it is one that was to be told."""
        told = len(self._values)
        if schedule not in self._chosen[told:]:
            return False
        if schedule != self._chosen[told]:  # the posterior knows values of the first ones observed only
            self._posterior.forget(told)
            waiting = self._chosen[told:]
            waiting.remove(schedule)
            self._chosen[told:] = [schedule, *waiting]
            self._posterior.observe([self._indices[one] for one in self._chosen[told:]])
        self._values.append(value)
        return True

    def most_promising(self) -> S | None:
        """The schedule with the largest expected improvement; None if all have been chosen.

        Before anything is known, it is the one that the time model finds fastest; without a model, the first.
        """
        if not self._open.any():
            return None
        scores = np.where(self._open, self._scores(), -np.inf)
        return self._schedules[int(np.argmax(scores))]

    def _scores(self) -> Floats:
        ok = [value for value in self._values if value is not None]
        if not ok:
            return -self._posterior.features[:, -1]
        mean, deviation = self._posterior.predict(worthwhile(self._values))
        better = (min(ok) - mean) / deviation
        scores: Floats = deviation * (better * ndtr(better) + np.exp(-(better**2) / 2) / np.sqrt(2 * np.pi))
        return scores


def worthwhile(values: Sequence[float | None]) -> Floats:
    """Logarithms of seconds with failures as slow as the slowest, and nothing slower than is worth telling apart."""
    ok = [value for value in values if value is not None]
    slowest = min(max(ok), min(ok) + _WORTHLESS)
    return np.array([slowest if value is None else min(value, slowest) for value in values])
