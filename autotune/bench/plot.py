"""Pictures: how many times as fast as each baseline, a bar for each problem; how long each rung of a ladder takes, and
contenders of each size; how searches get on, a curve for each.

Drawing needs Matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any

from autotune.base.files import atomic_write
from autotune.search_spaces.machine.rates import duration

FORMATS = (".svg", ".png")
_INCHES_PER_RUN = 0.17


def draw(path: Path, title: str, ratios: Sequence[tuple[str, Mapping[str, float]]], baselines: Sequence[str]) -> None:
    """Write a file of one of `FORMATS` with a column of bars for each baseline.

    Args:
        path: the file.
        title: what stands above.
        ratios: of each problem its key, and by baseline how many times as fast autotune is; there is no bar without.
        baselines: from left to right.

    Raises:
        OSError: the file cannot be written; what was there is still there.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3 + 3 * len(baselines), 1.5 + _INCHES_PER_RUN * len(ratios)), layout="constrained")
    figure.suptitle(title)
    columns = figure.subplots(1, len(baselines), sharey=True, squeeze=False)[0]
    for axes, name in zip(columns, baselines, strict=True):
        axes.barh([key for key, _ in ratios], [found.get(name, nan) for _, found in ratios])
        axes.axvline(1, color="black", linewidth=0.8)
        axes.set_xlabel(f"times as fast as {name}")
        axes.tick_params(axis="y", labelsize=7)
        axes.margins(y=0.01)
    columns[0].invert_yaxis()
    _save(figure, path)


def draw_ladder(path: Path, title: str, seconds: Mapping[str, float]) -> None:
    """Write a file of one of `FORMATS` with a bar for the time of each contender, on a logarithmic scale.

    Args:
        path: the file.
        title: what stands above.
        seconds: by contender, from top to bottom.

    Raises:
        OSError: the file cannot be written; what was there is still there.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 1.2 + 0.3 * len(seconds)), layout="constrained")
    figure.suptitle(title, fontsize=10)
    axes = figure.subplots()
    bars = axes.barh(list(seconds), [1e6 * one for one in seconds.values()])
    axes.bar_label(bars, [duration(one) for one in seconds.values()], padding=3, fontsize=8)
    axes.set_xscale("log")
    axes.set_xlabel("microseconds of a launch")
    axes.margins(x=0.15)
    axes.invert_yaxis()
    _save(figure, path)


def draw_sizes(path: Path, title: str, sizes: Sequence[int], seconds: Mapping[str, Sequence[float]]) -> None:
    """Write a file of one of `FORMATS` with the times of contenders over sizes, on logarithmic scales.

    Args:
        path: the file.
        title: what stands above.
        sizes: in elements, ascending.
        seconds: by contender, of each size.

    Raises:
        OSError: the file cannot be written; what was there is still there.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    figure.suptitle(title, fontsize=10)
    axes = figure.subplots()
    for name, times in seconds.items():
        axes.plot(sizes, [1e6 * one for one in times], marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("elements")
    axes.set_ylabel("microseconds")
    axes.legend(fontsize=8)
    _save(figure, path)


def draw_curves(path: Path, title: str, curves: Mapping[str, Sequence[float]]) -> None:
    """Write a file of one of `FORMATS` with the standardised performance of searches over their time.

    Args:
        path: the file.
        title: what stands above.
        curves: by name of the search, in equal steps up to the end.

    Raises:
        OSError: the file cannot be written; what was there is still there.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    figure.suptitle(title)
    axes = figure.subplots()
    for name, curve in curves.items():
        axes.plot([(number + 1) / len(curve) for number in range(len(curve))], curve, label=name)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xlabel("share of the time")
    axes.set_ylabel("from random search (0) to the optimum (1)")
    axes.legend(fontsize=8)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    from matplotlib import rc_context

    with atomic_write(path) as written, rc_context({"svg.fonttype": "none"}):  # text as text: a tenth of the bytes
        figure.savefig(written)
