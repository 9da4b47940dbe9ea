"""``autotune calibrate``: what a GPU can do, measured and stored."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from typing import Annotated

import typer

from autotune.base.files import write_text
from autotune.cli.errors import BadInputError, CommandError
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, gpu_of, opened, output_option, spec_of
from autotune.cli.rendering.calibration import print_calibration
from autotune.cli.rendering.output import json_text, print_json

app = typer.Typer(invoke_without_command=True)


@app.callback()
def calibrate(
    context: typer.Context,
    device: DeviceOption = "auto",
    output: Annotated[Path | None, output_option("Write the calibration as JSON to this file.")] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure what a GPU can do: bandwidths, latencies, arithmetic peaks, launches. About half a minute.

    The result is stored. Shares of the roofline then refer to it.
    """
    from autotune.calibrate.run import EXPERIMENTS
    from autotune.calibrate.run import calibrate as measure
    from autotune.db import TuningDB
    from autotune.devices.base import DeviceError

    if name := context.invoked_subcommand:
        if (device, output, db, as_json) != ("auto", None, None, False):
            raise BadInputError(f"{name} has options of its own: write them after it")
        return
    target, numbers = gpu_of(device, "calibrate"), count(1)

    def show(experiment: str) -> None:
        print(f"{next(numbers)}/{len(EXPERIMENTS)}  {experiment}", file=sys.stderr, flush=True)

    with TuningDB(db) as database:
        try:
            found = measure(target, show)
        except DeviceError as error:
            raise CommandError(str(error)) from error
        database.record_calibration(found, target.spec)
        location = database.location
    if output:
        write_text(output, json_text(found.to_dict()) + "\n")
    if as_json:
        print_json(found.to_dict())
    else:
        print_calibration(found, target.spec)
        print(f"database  {location}")


@app.command()
def show(device: DeviceOption = "auto", db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Show the newest calibration of a device model, or the one that ships."""
    spec = spec_of(device)
    with opened(db) as database:
        found = database.calibration(spec.name)
    if found is None:
        raise CommandError(f"{spec.name} was not calibrated: autotune calibrate measures a GPU")
    if as_json:
        print_json(found.to_dict())
    else:
        print_calibration(found, spec)
