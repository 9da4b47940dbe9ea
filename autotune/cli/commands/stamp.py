"""``autotune db stamp``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from autotune.cli.options import DatabaseOption, JsonOption, ModelOption, OperatorArgument, model_of, operator_name
from autotune.cli.rendering.output import print_json, print_table


def stamp(
    operator: OperatorArgument = None,
    device: ModelOption = None,
    before: Annotated[
        Path | None,
        typer.Option(
            help="A checkout of autotune that emits the programs of its shipped records, and compiles them again.",
            metavar="FOLDER",
        ),
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Confirm records whose programs have changed, but compile to the same machine code. This needs no GPU."""
    from autotune.compiler import compiler_version
    from autotune.db import TuningDB
    from autotune.runs.stamping import stamp

    with TuningDB(db) as database:
        found = list(stamp(database, operator_name(operator), model_of(device, database), before))
    staying = [(one.problem.operator, one.problem.key, one.device.model, reason) for one, reason in found if reason]
    confirmed = len(found) - len(staying)
    if as_json:
        names = ("operator", "problem", "device", "reason")
        rows = [dict(zip(names, row, strict=True)) for row in staying]
        print_json({"compiler": compiler_version(), "confirmed": confirmed, "unconfirmed": rows})
        return
    if staying:
        print_table("Records that stay unconfirmed", ("operator", "problem", "device", "why"), staying)
    print(f"{confirmed} of {len(found)} unconfirmed records of {compiler_version()} are confirmed")
