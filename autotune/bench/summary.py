"""Summaries of many comparisons."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import geometric_mean
from typing import Any

from .comparison import Comparison
from .run import Run

LARGE = 256 << 20  # bytes from which on a launch costs nothing beside them
_NEAR = 0.95  # share of the copy's rate


@dataclass(frozen=True)
class Standing:
    """Where autotune stands against the fastest baseline of each problem, and, where many bytes move, the copy.

    Attributes:
        against: problems that have a baseline beside the copy.
        mean, least: of the ratios to the fastest of them; None if there is none.
        ahead: how many of these ratios are 1 at least.
        large: problems that move `LARGE` bytes or more, and were compared with the copy.
        large_least: the lowest ratio to the copy among these.
        large_near: how many of them have 95 % of the copy's rate.
    """

    against: int
    mean: float | None
    least: float | None
    ahead: int
    large: int
    large_least: float | None
    large_near: int

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


def by_group(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """The runs of each labelled group, in their order; those that failed are left out."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        if run.comparison and run.group:
            groups.setdefault(run.group, []).append(run)
    return groups


def mean_ratios(runs: Iterable[Run], baselines: Collection[str]) -> dict[str, float]:
    """The geometric mean of the ratios to each baseline that has some."""
    ratios = [run.comparison.ratios(baselines) for run in runs if run.comparison]
    names = dict.fromkeys(name for one in ratios for name in one)
    return {name: geometric_mean(one[name] for one in ratios if name in one) for name in names}


def standing(runs: Iterable[Run], baselines: Collection[str], copy: str) -> Standing:
    """That of the problems that were measured; `copy` is the baseline that only moves bytes."""
    compared: list[tuple[Run, Comparison]] = [(run, run.comparison) for run in runs if run.comparison]
    rivals = [_fastest(one.ratios(name for name in baselines if name != copy)) for _, one in compared]
    ratios = [ratio for ratio in rivals if ratio is not None]
    large = [one.ratio(copy) for run, one in compared if copy in one.samples and run.problem.work.bytes >= LARGE]
    return Standing(
        against=len(ratios),
        mean=geometric_mean(ratios) if ratios else None,
        least=min(ratios, default=None),
        ahead=sum(ratio >= 1 for ratio in ratios),
        large=len(large),
        large_least=min(large, default=None),
        large_near=sum(ratio >= _NEAR for ratio in large),
    )


def _fastest(ratios: Mapping[str, float]) -> float | None:
    return min(ratios.values(), default=None)
