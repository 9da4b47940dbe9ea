"""Every search on every measured space, scored by the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from multiprocessing import active_children, get_context
from pathlib import Path
from statistics import median

import numpy as np

from .measured_space import MeasuredSpace, Outcome, read_space
from .protocol import Protocol
from .space_searchers import SPACE_SEARCHERS

EARLY = (10, 25, 50, 100)  # evaluations after which a search is looked at
MARGIN = 1.01  # near the optimum: so many times its time at most


@dataclass(frozen=True)
class SpaceResult:
    """One search on one space.

    Attributes:
        space: its name.
        searcher: the search's name in `SPACE_SEARCHERS`.
        curve: standardised performance at each moment of the protocol.
        after: by number of evaluations, the median over seeds of the best kernel's time over the optimum.
        near: evaluations until one was near the optimum, for each seed; infinite where it was not within the time.
    """

    space: str
    searcher: str
    curve: tuple[float, ...]
    after: Mapping[int, float]
    near: tuple[float, ...]

    @property
    def score(self) -> float:
        """The mean of the curve."""
        return float(np.mean(self.curve))


def compare_spaces(
    paths: Sequence[Path],
    searchers: Sequence[str],
    seeds: int,
    on_result: Callable[[SpaceResult], None],
) -> None:
    """Run every search on every space with every seed, in one process per CPU.

    Args:
        paths: files that `read_space` reads, all of them with results.
        searchers: names in `SPACE_SEARCHERS`.
        seeds: how many, from 0 on.
        on_result: called with each comparison when it is done.
    """
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        pending = [
            (path, name, [pool.submit(_run, path, name, seed) for seed in range(seeds)])
            for path in paths
            for name in searchers
        ]
        try:
            for path, name, runs in pending:
                on_result(space_result(_known(path), name, [run.result() for run in runs]))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():  # which would first end the seeds that they are at
                process.terminate()
            raise


def space_result(space: MeasuredSpace, searcher: str, runs: Sequence[Sequence[Outcome]]) -> SpaceResult:
    """What comes out of a search's runs."""

    def best(run: Sequence[Outcome], count: int) -> float:
        return min(outcome.time for outcome in run[:count]) / space.optimum

    near = [
        next((at for at, outcome in enumerate(run, 1) if outcome.time <= MARGIN * space.optimum), inf) for run in runs
    ]
    after = {count: median(best(run, count) for run in runs) for count in EARLY}
    return SpaceResult(space.name, searcher, tuple(Protocol(space).curve(runs)), after, tuple(near))


def run_on(space: MeasuredSpace, searcher: str, seed: int) -> list[Outcome]:
    """The evaluations of a search, until it has found the optimum or the time is over."""
    limit, spent = Protocol(space).seconds, 0.0
    outcomes: list[Outcome] = []
    for outcome in SPACE_SEARCHERS[searcher](space, seed, limit):
        outcomes.append(outcome)
        spent += outcome.seconds
        if spent > limit or outcome.time <= space.optimum:
            break
    return outcomes


def _run(path: Path, searcher: str, seed: int) -> list[Outcome]:
    return run_on(_known(path), searcher, seed)


@lru_cache(maxsize=1)
def _known(path: Path) -> MeasuredSpace:
    """A space that is read once for all seeds."""
    space = read_space(path)
    if space is None:
        raise ValueError(f"{path} has no results")
    return space
