"""How many evaluations a search needs to come near the recorded optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import islice
from math import inf
from multiprocessing import active_children, get_context
from pathlib import Path

from autotune.codegen.model.integers import ceil_div
from autotune.devices.recording import Recording, load

from .searchers import SEARCHERS

MARGINS = (1.05, 1.01)  # near: so many times the optimum at most


@dataclass(frozen=True)
class Found:
    """When a search was near the optimum.

    Attributes:
        evaluations: how many it had made, for each seed; infinite where it was not within the budget.
    """

    evaluations: tuple[float, ...]

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The lower quartile, the median and the upper quartile; each is one of the numbers."""
        ordered = sorted(self.evaluations)
        last = len(ordered) - 1
        return ordered[last // 4], ordered[last // 2], ordered[ceil_div(3 * last, 4)]

    @property
    def reached(self) -> int:
        """Seeds with which it was near."""
        return sum(count < inf for count in self.evaluations)


@dataclass(frozen=True)
class SearchResult:
    """One search on one recording.

    Attributes:
        recording: the file.
        searcher: the search's name in `SEARCHERS`.
        found: for each of `MARGINS`, when it was that near.
    """

    recording: Path
    searcher: str
    found: tuple[Found, ...]


def compare_searches(
    recordings: Sequence[Path],
    searchers: Sequence[str],
    seeds: int,
    budget: int,
    ahead: int,
    on_result: Callable[[SearchResult], None],
) -> None:
    """Run every search on every recording with every seed, in one process per CPU.

    Args:
        recordings: files that `load` reads.
        searchers: names in `SEARCHERS`.
        seeds: how many, from 0 on.
        budget: evaluations that a search may make.
        ahead: schedules that are always under way, as compiling ahead has it; a search learns of each so much later.
        on_result: called with each comparison when it is done.
    """
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        pending = [
            (path, name, [pool.submit(_evaluations, path, name, seed, budget, ahead) for seed in range(seeds)])
            for path in recordings
            for name in searchers
        ]
        try:
            for path, name, runs in pending:
                counts = zip(*(run.result() for run in runs), strict=True)
                on_result(SearchResult(path, name, tuple(map(Found, counts))))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():  # which would first end the seeds that they are at
                process.terminate()
            raise


def near_after(times: Iterator[float], optimum: float, budget: int) -> tuple[float, ...]:
    """After how many of these seconds one was near the optimum, for each of `MARGINS`."""
    counts = [inf] * len(MARGINS)
    for count, seconds in enumerate(islice(times, budget), 1):
        for index, margin in enumerate(MARGINS):
            if seconds <= margin * optimum:
                counts[index] = min(counts[index], count)
        if max(counts) < inf:
            break
    return tuple(counts)


def _evaluations(path: Path, searcher: str, seed: int, budget: int, ahead: int) -> tuple[float, ...]:
    recording = _loaded(path)
    return near_after(SEARCHERS[searcher](recording, seed, budget, ahead), recording.optimum, budget)


@lru_cache(maxsize=1)
def _loaded(path: Path) -> Recording:
    """A recording whose sources, by which the time model knows schedules, are emitted once for all seeds."""
    recording = load(path)
    return replace(recording, operator=recording.operator.with_kernels(emit=cache(recording.operator.emit)))
