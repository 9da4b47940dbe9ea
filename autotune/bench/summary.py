"""Summaries of many comparisons."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import geometric_mean

from .comparison import Comparison
from .run import Run


def by_group(runs: Iterable[Run]) -> dict[str, list[Comparison]]:
    """The comparisons of each labelled group, in the order of the runs; runs that failed are left out."""
    groups: dict[str, list[Comparison]] = {}
    for run in runs:
        if run.comparison and run.group:
            groups.setdefault(run.group, []).append(run.comparison)
    return groups


def mean_ratios(comparisons: Sequence[Comparison], baselines: Collection[str]) -> dict[str, float]:
    """The geometric mean of the ratios to each baseline that has some."""
    ratios = [comparison.ratios(baselines) for comparison in comparisons]
    names = dict.fromkeys(name for one in ratios for name in one)
    return {name: geometric_mean(one[name] for one in ratios if name in one) for name in names}
