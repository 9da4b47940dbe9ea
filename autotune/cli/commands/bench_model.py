"""``autotune bench model``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import user_input
from ..options import JsonOption
from ..rendering.output import print_json, print_table


def bench_model(
    paths: Annotated[
        list[Path],
        typer.Option("--recording", help="A file of autotune record; repeat the option for more files."),
    ],
    as_json: JsonOption = False,
) -> None:
    """Say how well the time model orders recorded schedules, as it is and calibrated on the other recordings."""
    from ...bench.time_model import FIRST, Modelled, calibrated
    from ...devices.model import Calibration
    from ...devices.recording import load

    with user_input():
        recordings = {path: Modelled(load(path)) for path in paths}
    results: list[dict[str, Any]] = []
    for path, recording in recordings.items():
        others = [other for other in recordings.values() if other is not recording]
        calibrations = {"default": Calibration()} | ({"others": calibrated(others)} if others else {})
        results += [
            {
                "recording": str(path),
                "schedules": len(recording.seconds),
                "calibrated_on": name,
                "calibration": asdict(calibration),
                **asdict(recording.quality(calibration)),
            }
            for name, calibration in calibrations.items()
        ]
    everything = calibrated(list(recordings.values()))
    if as_json:
        print_json({"results": results, "calibration": asdict(everything)})
        return
    columns = ("recording", "schedules", "calibrated on", "rank correlation", f"regret of the first {FIRST}")
    print_table("The time model, before compiling", columns, map(_row, results))
    print("calibrated on all:", " ".join(f"{name}={value:.3g}" for name, value in asdict(everything).items()))


def _row(result: dict[str, Any]) -> tuple[Any, ...]:
    return (
        Path(result["recording"]).name,
        result["schedules"],
        result["calibrated_on"],
        f"{result['rank_correlation']:.3f}",
        f"{result['regret']:.1%}",
    )
