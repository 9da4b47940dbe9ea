"""``autotune bench model``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.errors import user_input
from autotune.cli.options import JsonOption
from autotune.cli.rendering.output import print_json, print_table


def bench_model(
    paths: Annotated[
        list[Path],
        typer.Option("--recording", help="A file of autotune record; repeat the option for more files."),
    ],
    as_json: JsonOption = False,
) -> None:
    """Compare the times that the time model predicts with recorded ones."""
    from autotune.bench.time_model import FIRST, quality
    from autotune.devices.recording import load

    with user_input():
        recordings = {path: load(path) for path in paths}
    results = [
        {"recording": str(path), "schedules": len(recording.seconds), **asdict(quality(recording))}
        for path, recording in recordings.items()
    ]
    if as_json:
        print_json({"results": results})
        return
    columns = ("recording", "schedules", "rank correlation", f"regret of the first {FIRST}", "level", "spread")
    print_table("The time model, before compiling", columns, map(_row, results))


def _row(result: dict[str, Any]) -> tuple[Any, ...]:
    return (
        Path(result["recording"]).name,
        result["schedules"],
        f"{result['rank_correlation']:.3f}",
        f"{result['regret']:.1%}",
        f"{result['level']:.2f}",
        f"{result['spread']:.3f}",
    )
