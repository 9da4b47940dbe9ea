"""Where autotune stands on random problems, as a table and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

from autotune.cli.printable import printable
from autotune.search_spaces.machine.rates import duration

from .output import print_table

if TYPE_CHECKING:
    from autotune.bench import Run, Setting

_WORST = 10
_NEAR = 0.95


def print_standing(setting: Setting, runs: Sequence[Run]) -> None:
    """A row for each rule of choice and for all, then the worst problems."""
    rules = dict.fromkeys(run.own.source for run in runs)
    groups = {rule: [run for run in runs if run.own.source == rule] for rule in rules} | {"all": list(runs)}
    against = ", ".join(setting.baselines)
    title = f"{setting.operator.name} on {setting.device.spec.name}: random problems, × the fastest of {against}"
    columns = ("chosen by", "problems", "mean", "least", f"below {_NEAR}", "below 1")
    print_table(title, columns, [(name, *_figures(group)) for name, group in groups.items()])
    worst = sorted(_ratios(runs), key=lambda one: one[1])[:_WORST]
    rows = [
        (run.problem.key, run.own.source, duration(run.comparison.seconds("autotune")), fastest, f"{ratio:.3f}")
        for run, ratio, fastest in worst
        if run.comparison
    ]
    if rows:
        print_table("The worst", ("problem", "chosen by", "autotune", "fastest", "ratio"), rows)
    for run in runs:
        if run.error:
            print(printable(f"failed: {run.problem.key}: {run.error}"), file=sys.stderr)


def standing_document(runs: Sequence[Run]) -> dict[str, Any]:
    """The same as JSON values."""
    ratios = [ratio for _, ratio, _ in _ratios(runs)]
    return {
        "against": len(ratios),
        "mean": geometric_mean(ratios) if ratios else None,
        "least": min(ratios, default=None),
        "below_095": sum(ratio < _NEAR for ratio in ratios),
        "below_1": sum(ratio < 1 for ratio in ratios),
    }


def _figures(runs: Sequence[Run]) -> tuple[Any, ...]:
    found = standing_document(runs)
    count = found["against"]
    if not count:
        return 0, None, None, None, None
    shares = (f"{found[name] / count:.0%}" for name in ("below_095", "below_1"))
    return count, f"{found['mean']:.3f}", f"{found['least']:.3f}", *shares


def _ratios(runs: Sequence[Run]) -> list[tuple[Run, float, str]]:
    """Each run that has a baseline, its ratio to the fastest one, and that one's name."""
    found = []
    for run in runs:
        if run.comparison and (ratios := run.comparison.ratios(set(run.comparison.samples) - {"autotune"})):
            name = min(ratios, key=lambda one: ratios[one])
            found.append((run, ratios[name], name))
    return found
