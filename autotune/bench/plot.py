"""The picture of a suite: how many times as fast as each baseline, a bar for each problem. Drawing needs Matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from pathlib import Path

from ..files import atomic_write
from .run import Run

FORMATS = (".svg", ".png")
_INCHES_PER_RUN = 0.17


def draw(path: Path, title: str, runs: Sequence[Run], baselines: Sequence[str]) -> None:
    """Write a file of one of `FORMATS` with a column of bars for each baseline; contenders that failed have none.

    Raises:
        OSError: the file cannot be written; what was there is still there.
    """
    from matplotlib.figure import Figure

    measured = [(run.problem.key, run.comparison) for run in runs if run.comparison]
    figure = Figure(figsize=(3 + 3 * len(baselines), 1.5 + _INCHES_PER_RUN * len(measured)), layout="constrained")
    figure.suptitle(title)
    columns = figure.subplots(1, len(baselines), sharey=True, squeeze=False)[0]
    for axes, name in zip(columns, baselines, strict=True):
        axes.barh(
            [key for key, _ in measured], [comparison.ratios([name]).get(name, nan) for _, comparison in measured]
        )
        axes.axvline(1, color="black", linewidth=0.8)
        axes.set_xlabel(f"times as fast as {name}")
        axes.tick_params(axis="y", labelsize=7)
        axes.margins(y=0.01)
    columns[0].invert_yaxis()
    with atomic_write(path) as written:
        figure.savefig(written)
