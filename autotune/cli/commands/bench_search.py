"""``autotune bench search``."""

from __future__ import annotations

import sys
from collections.abc import Collection
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.errors import BadInputError, user_input
from autotune.cli.options import JsonOption
from autotune.cli.rendering.output import print_json, print_table

if TYPE_CHECKING:
    from autotune.bench.search import SearchResult


def bench_search(
    recordings: Annotated[
        list[Path],
        typer.Option("--recording", help="A file of autotune record; repeat the option for more files."),
    ],
    searchers: Annotated[
        str | None, typer.Option(help="Searches, separated by commas. Default: all that are installed.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds to repeat each search with.")] = 50,
    evaluations: Annotated[int, typer.Option(min=1, help="How many evaluations a search may make.")] = 200,
    ahead: Annotated[int, typer.Option(min=1, help="How many schedules are in flight at once, as while tuning.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Compare how many evaluations searches need to come near a recorded optimum."""
    from autotune.bench.search import SEARCHERS, compare_searches
    from autotune.devices.recording import load

    names = installed(searchers, SEARCHERS)
    with user_input():
        for path in recordings:
            load(path)
    results: list[SearchResult] = []

    def show(result: SearchResult) -> None:
        results.append(result)
        done = f"{len(results)}/{len(recordings) * len(names)}"
        print(f"{done}  {' '.join(map(str, _row(result, evaluations)))}", file=sys.stderr)

    compare_searches(recordings, names, seeds, evaluations, ahead, show)
    if as_json:
        print_json(
            {"seeds": seeds, "evaluations": evaluations, "ahead": ahead, "results": list(map(_document, results))}
        )
    else:
        title = f"Evaluations to come near the optimum: median and quartiles of {seeds} seeds"
        columns = ("recording", "search", "within 5 %", "reached", "within 1 %", "reached")
        print_table(title, columns, (_row(result, evaluations) for result in results))


def installed(searchers: str | None, known: Collection[str]) -> list[str]:
    """The searches that are asked for, or all that this machine can run.

    Raises:
        BadInputError: one is unknown, or cannot run here.
    """
    from autotune.bench.search import missing

    names = list(known) if searchers is None else searchers.split(",")
    for name in names:
        if name not in known:
            raise BadInputError(f"unknown search {name!r}; known: {', '.join(known)}")
    lacking = {name: reason for name in names if (reason := missing(name))}
    for reason in lacking.values():
        if searchers is not None:
            raise BadInputError(reason)
        print(f"skipped: {reason}", file=sys.stderr)
    return [name for name in names if name not in lacking]


def _row(result: SearchResult, budget: int) -> list[Any]:
    cells: list[Any] = [result.recording.name, result.searcher]
    for found in result.found:
        low, middle, high = (f"{count:.0f}" if count < inf else f">{budget}" for count in found.quartiles)
        cells += [f"{middle} ({low}–{high})", f"{found.reached}/{len(found.evaluations)}"]
    return cells


def _document(result: SearchResult) -> dict[str, Any]:
    from autotune.bench.search import MARGINS

    def finite(count: float) -> int | None:
        return int(count) if count < inf else None

    return {
        "recording": str(result.recording),
        "searcher": result.searcher,
        "within": [
            {
                "margin": round(margin - 1, 6),
                "quartiles": list(map(finite, found.quartiles)),
                "reached": found.reached,
                "evaluations": list(map(finite, found.evaluations)),
            }
            for margin, found in zip(MARGINS, result.found, strict=True)
        ],
    }
