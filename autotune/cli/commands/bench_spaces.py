"""``autotune bench spaces``."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.base.files import write_text
from autotune.base.version import version_of
from autotune.cli.errors import BadInputError, user_input
from autotune.cli.options import JsonOption, output_option
from autotune.cli.rendering.output import json_text, print_json, print_table

from .bench_search import installed

if TYPE_CHECKING:
    from autotune.bench.search import SpaceResult

_MOMENTS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # shares of the time that the table has of the curves
_KEPT = 50  # moments of a curve in the result, in equal steps
_PACKAGES = ("autotune", "kernel-tuner", "numpy", "scipy", "scikit-learn")


def bench_spaces(
    folder: Annotated[Path, typer.Argument(help="A folder of T4 files and caches of Kernel Tuner, .json or .json.gz.")],
    searchers: Annotated[
        str | None, typer.Option(help="Searches, separated by commas. Default: all that are installed.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=2, help="How many seeds to repeat each search with.")] = 100,
    output: Annotated[Path | None, output_option("Write the result as JSON to this file.")] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the curves to this .svg or .png file. Needs Matplotlib.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Score searches on spaces that others have measured as a whole, by the protocol of the auto-tuning community."""
    from autotune.bench.plot import FORMATS, draw_curves
    from autotune.bench.search import SPACE_SEARCHERS, compare_spaces, measured_spaces

    names = installed(searchers, SPACE_SEARCHERS)
    if plot and plot.suffix not in FORMATS:
        raise BadInputError(f"--plot {plot}: expected a file name that ends in {' or '.join(FORMATS)}")
    with user_input():
        spaces = measured_spaces(folder)
    results: list[SpaceResult] = []

    def show(result: SpaceResult) -> None:
        results.append(result)
        done = f"{len(results)}/{len(spaces) * len(names)}"
        print(f"{done}  {result.space}  {result.searcher}  {result.score:.3f}", file=sys.stderr)

    compare_spaces(list(spaces), names, seeds, show)
    document = _document(results, names, seeds)
    if output:
        write_text(output, json_text(document) + "\n")
    if plot:
        draw_curves(plot, document["title"], {name: one["curve"] for name, one in document["searches"].items()})
    if as_json:
        print_json(document)
    else:
        _print(results, document, names)


def _document(results: Sequence[SpaceResult], names: Sequence[str], seeds: int) -> dict[str, Any]:
    of = {name: [result for result in results if result.searcher == name] for name in names}
    return {
        "title": f"{len(results) // len(names)} measured spaces, {seeds} seeds",
        "seeds": seeds,
        "environment": _environment(),
        "searches": {
            name: {
                "score": round(fmean(result.score for result in some), 4),
                "curve": _thinned([fmean(values) for values in zip(*(result.curve for result in some), strict=True)]),
            }
            for name, some in of.items()
        },
        "results": [
            {
                "space": result.space,
                "searcher": result.searcher,
                "score": round(result.score, 4),
                "curve": _thinned(result.curve),
                "best_after": {str(count): round(ratio, 4) for count, ratio in result.after.items()},
                "evaluations_to_1_percent": [int(count) if count < inf else None for count in result.near],
            }
            for result in results
        ],
    }


def _environment() -> dict[str, Any]:
    machine = {"python": platform.python_version(), "machine": platform.machine(), "cpus": os.cpu_count()}
    return machine | {package: found for package in _PACKAGES if (found := version_of(package))}


def _thinned(curve: Sequence[float]) -> list[float]:
    """As many moments as are worth keeping, the last one included."""
    return [round(curve[len(curve) * number // _KEPT - 1], 4) for number in range(1, _KEPT + 1)]


def _print(results: Sequence[SpaceResult], document: dict[str, Any], names: Sequence[str]) -> None:
    spaces = list(dict.fromkeys(result.space for result in results))
    by = {(result.space, result.searcher): result for result in results}
    searches = document["searches"]
    scores = [[space, *(f"{by[space, name].score:.3f}" for name in names)] for space in spaces]
    mean = ["all", *(f"{searches[name]['score']:.3f}" for name in names)]
    print_table(f"Scores: {document['title']}", ("space", *names), [*scores, mean])
    curves = [
        [name, *(f"{searches[name]['curve'][int(share * _KEPT) - 1]:.2f}" for share in _MOMENTS)] for name in names
    ]
    print_table(
        "Curves: performance after a share of the time", ("search", *(f"{share:.0%}" for share in _MOMENTS)), curves
    )
    counts = list(results[0].after)
    rows = [
        [space, name, *(f"{ratio - 1:.1%}" for ratio in by[space, name].after.values()), _near(by[space, name])]
        for space in spaces
        for name in names
    ]
    columns = ("space", "search", *(f"after {count}" for count in counts), "evaluations to 1 %")
    print_table("Median distance of the best kernel from the optimum", columns, rows)


def _near(result: SpaceResult) -> str:
    middle = median(result.near)
    return f"{middle:.0f}" if middle < inf else "not reached"
