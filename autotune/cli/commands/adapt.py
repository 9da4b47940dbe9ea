"""``autotune adapt``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.early_warnings import warn_of_cache, warn_of_database
from autotune.cli.errors import BadInputError, CommandError, InterruptedRunError, user_input
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, command_line, worker_device_of
from autotune.cli.rendering.adapted import document, print_adapted, shown_adaption
from autotune.cli.rendering.output import print_json, tell

from .tune import TURN

if TYPE_CHECKING:
    from autotune.db import TuningDB
    from autotune.devices.base import Device
    from autotune.search_spaces.contract.operator import Operator
    from autotune.tuner.known_problems import Wanted


def adapt(
    context: typer.Context,
    operators: Annotated[
        list[str] | None, typer.Argument(help="Adapt these operators only.", metavar="[OPERATOR]...")
    ] = None,
    device: DeviceOption = "auto",
    seconds: Annotated[float, typer.Option(help="How long to measure at most, in seconds.")] = 300.0,
    untuned: Annotated[
        bool, typer.Option("--untuned", help="Measure the problems that programs called without a record instead.")
    ] = False,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Adapt to a GPU: measure the most promising schedules of all problems that ship, a few of each.

    They come from records of other GPUs of the same architecture, and from the time model. The same command continues
    where an earlier run stopped.
    """
    from autotune.db import TuningDB
    from autotune.db.engine import check_lasting, database_url
    from autotune.db.run_record import SEVERAL
    from autotune.runs.run import begun
    from autotune.tuner.adapt import adapt as measure

    with user_input():
        chosen = _operators(operators or [])
        if not seconds > 0:
            raise ValueError(f"--seconds {seconds:g}: expected more than 0")
    check_lasting(url := database_url(db))
    warn_of_database(url)
    warn_of_cache()
    sys.setswitchinterval(TURN)
    with worker_device_of(device) as target, TuningDB(db) as database:
        tell("reading the problems that ship")
        wanted = _problems(chosen, untuned, target, database)
        if not wanted:
            why = "programs called no problem without a record" if untuned else "no problem is known"
            raise CommandError(f"nothing to measure: {why} on {target.spec.name}")
        name = chosen[0].name if len(chosen) == 1 else SEVERAL
        options = {"seconds": seconds, "untuned": untuned or None, "sampler": "adapt", "seed": 0}
        with (
            begun(database, command_line(context, db, database.location), name, [target], options) as run,
            shown_adaption(len(wanted), seconds) as show,
        ):
            result = measure(wanted, target, database, seconds, show, run=run)
            run.interrupted = result.interrupted
        if as_json:
            print_json({"database": database.location, "run": run.id, **document(result, target)})
        else:
            print_adapted(result, target)
            print(f"database  {database.location}")
    if result.interrupted:
        raise InterruptedRunError("interrupted; every trial is stored, and the same command continues from there")
    if failed := [key for key, one in result.adapted.items() if one.best is None]:
        named = "; ".join(f"{operator.name} {problem.key}" for operator, problem in failed)
        raise CommandError(f"no schedule worked for {named}; autotune db trials lists the errors")


def _operators(names: list[str]) -> list[Operator[Any, Any]]:
    from autotune.search_spaces.contract.registry import OPERATORS, operator

    return [operator(name) for name in dict.fromkeys(names or OPERATORS)]


def _problems(operators: list[Operator[Any, Any]], untuned: bool, device: Device, database: TuningDB) -> list[Wanted]:
    from autotune.devices.replay import PREFIX
    from autotune.tuner.known_problems import known_problems
    from autotune.tuner.untuned import untuned_problems

    if device.selector.startswith(PREFIX):
        raise BadInputError(
            f"--device {device.selector}: a recording is of one problem; expected a GPU's number or h100"
        )
    if untuned:
        return [(one, problem) for one in operators for problem in untuned_problems(one, device, database)]
    return list(known_problems(operators, database))
