"""Many contests in a few numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import geometric_mean

from .contest import Contest
from .run import Run


def by_group(runs: Iterable[Run]) -> dict[str, list[Contest]]:
    """The contests of each labelled group, in the order of the runs; runs that failed are left out."""
    groups: dict[str, list[Contest]] = {}
    for run in runs:
        if run.contest and run.group:
            groups.setdefault(run.group, []).append(run.contest)
    return groups


def mean_ratios(contests: Sequence[Contest], baselines: Iterable[str]) -> dict[str, float]:
    """The geometric mean of the ratios to each baseline; empty without contests."""
    if not contests:
        return {}
    return {name: geometric_mean(contest.ratio(name) for contest in contests) for name in baselines}
