"""``autotune record``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.errors import BadInputError, CommandError, InterruptedRunError, user_input
from autotune.cli.operator_commands import problem_of
from autotune.cli.options import (
    DatabaseOption,
    DeviceOption,
    JsonOption,
    chosen_database,
    command_line,
    output_option,
    worker_device_of,
)
from autotune.cli.rendering.output import print_json, print_table
from autotune.cli.rendering.progress import shown_progress
from autotune.search_spaces.machine.rates import duration

if TYPE_CHECKING:
    from autotune.db.trials import Trial


def record(
    operator: Any,
    fields: Mapping[str, Any],
    context: typer.Context,
    output: Annotated[Path, output_option("The recording to write, usually NAME.jsonl.gz.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PARAMETER=VALUE,…]...",
            help="Restrict a search parameter to these values. autotune show lists them.",
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="How many schedules to record at most. A larger space is sampled.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="The seed of the random sample.")] = 0,
    device: DeviceOption = "auto",
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure many schedules of a problem and write a recording, for --device replay:FILE and bench search.

    The same command continues where an earlier one stopped.
    """
    from autotune.db import TuningDB
    from autotune.db.engine import check_lasting, database_url
    from autotune.db.recording import write_recording
    from autotune.runs.run import begun
    from autotune.search_spaces.contract.restriction import restrict_values, sample
    from autotune.tuner.record import record as measure
    from autotune.tuner.record import recording_options

    problem = problem_of(operator, fields)
    if problem.empty:
        raise BadInputError(f"nothing to record: {operator.name} {problem.key} has nothing to compute")
    check_lasting(database_url(db))
    with worker_device_of(device) as target, TuningDB(db) as database:
        with user_input():
            space = restrict_values(operator.space(problem, target.spec), words or [])
        schedules = sample(operator, problem, target.spec, space, trials, seed)
        if not schedules:
            raise BadInputError(f"none of the {space.size} draws is legal for {problem.key} on {target.spec.name}")
        title = f"{operator.name} {problem.key} on {target.spec.name}"
        command, options = command_line(context, db, database.location), recording_options(schedules, seed)
        with (
            begun(database, command, operator.name, [target], asdict(options)) as run,
            shown_progress() as screen,
            screen.run(f"recording {title}", problem, target.spec, options) as show,
        ):
            result, recorded = measure(operator, problem, target, database, schedules, show, run)
            run.interrupted = result.interrupted
            listing = f"autotune db trials {operator.name}{chosen_database(db, database.location)}"
    if result.interrupted:
        raise InterruptedRunError(
            f"interrupted with {len(recorded)} of {len(schedules)} schedules measured; the same command continues"
        )
    times = [trial.seconds for trial in recorded if trial.status == "ok" and trial.seconds is not None]
    if not times:
        error = f" ({result.error})" if result.error else ""
        raise CommandError(f"no schedule worked for {title}{error}; see {listing}")
    write_recording(output, recorded)
    _print_recorded(title, output, recorded, as_json)


def _print_recorded(title: str, output: Path, recorded: list[Trial], as_json: bool) -> None:
    times = [trial.seconds for trial in recorded if trial.status == "ok" and trial.seconds is not None]
    document: dict[str, Any] = {
        "recording": str(output),
        "bytes": output.stat().st_size,
        "schedules": len(recorded),
        "ok": len(times),
        "optimum": min(times),
        "slowest": max(times),
    }
    if as_json:
        print_json(document)
    else:
        by = recorded[0].time_source
        ends = {name: f"{duration(document[name])} {by}" for name in ("optimum", "slowest")}
        shown = document | ends
        print_table(title, ("recorded", ""), shown.items())
