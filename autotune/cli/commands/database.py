"""``autotune db``: queries, export and import of the tuning database."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from autotune.cli import completion
from autotune.cli.errors import BadInputError, CommandError, user_input
from autotune.cli.options import (
    DatabaseOption,
    JsonOption,
    ModelOption,
    OperatorArgument,
    ProblemOption,
    WholeOption,
    model_of,
    opened,
    operator_name,
    output_option,
    run_of,
)
from autotune.cli.printable import printable
from autotune.cli.rendering.output import print_json, print_table, tell
from autotune.cli.rendering.records import print_explained, print_stale
from autotune.cli.rendering.trials import Form, Order, in_order, print_bests, print_trials
from autotune.db.states import Status

app = typer.Typer(help="Query, export and import the tuning database.")


CsvOption = Annotated[bool, typer.Option("--csv", help="Print CSV, for spreadsheets.")]


def _form(as_json: bool, as_csv: bool) -> Form:
    if as_json and as_csv:
        raise BadInputError("--json and --csv exclude each other")
    return Form.JSON if as_json else Form.CSV if as_csv else Form.TABLE


@app.command()
def best(
    operator: OperatorArgument = None,
    problem: ProblemOption = None,
    device: ModelOption = None,
    run: Annotated[
        str | None,
        typer.Option(
            help="Select from the trials of this run only; autotune runs lists them.",
            metavar="ID",
            autocompletion=completion.runs,
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the provenance of each best trial, and the next best ones.")
    ] = False,
    sort: Annotated[Order, typer.Option(help="By growing size of the problem, by time, by share of the peak.")] = (
        Order.PROBLEM
    ),
    whole: WholeOption = False,
    db: DatabaseOption = None,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """List the best trial of each problem on each device."""
    form = _form(as_json, as_csv)
    with opened(db) as database:
        of_run = None if run is None else run_of(database, run).id
        found = database.bests(operator_name(operator), model_of(device, database), run=of_run, key=problem)
        records = in_order(found, sort)
        if explain:
            tell(f"looking for what changed since {len(records)} records were made")
            print_explained(records, database, as_json)
        else:
            print_bests(records, cache(database.peaks), form, whole=whole)


@app.command()
def doctor(
    operator: OperatorArgument = None,
    problem: ProblemOption = None,
    device: ModelOption = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the records that are stale, and what has changed since; and wrong trials that were judged otherwise."""
    from autotune.compiler import compiler_version

    with opened(db) as database:
        name, model = operator_name(operator), model_of(device, database)
        tell("looking for what has changed since the records were made")
        wrong = database.trials(name, problem, model, Status.WRONG)
        records = database.serving(name, model, compiler_version())
        print_stale([record for record in records if problem in (None, record.problem.key)], wrong, as_json)
        if removable := 0 if name or problem or model else len(database.prune(compiler_version())):
            print(f"{removable} other trials can never serve again; autotune db prune lists them", file=sys.stderr)
    _print_compilers()


def _print_compilers() -> None:
    """Say so if no shipped record was measured with the compiler of this installation."""
    from autotune.compiler import compiler_version
    from autotune.db.pretuned import shipped_compilers

    own, shipped = compiler_version(), shipped_compilers()
    if shipped and own not in shipped:
        print(f"shipped records are of {', '.join(shipped)}, none of {own}, which compiles here", file=sys.stderr)


@app.command()
def trials(
    operator: OperatorArgument = None,
    problem: ProblemOption = None,
    device: ModelOption = None,
    status: Annotated[Status | None, typer.Option(help="Show only trials with this status.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=2**63 - 1, help="How many of the newest to show at most.")] = 20,
    sort: Annotated[Order, typer.Option(help="Newest first, by size of the problem, time, or share of the peak.")] = (
        Order.TRIED
    ),
    db: DatabaseOption = None,
    as_csv: CsvOption = False,
    as_json: JsonOption = False,
) -> None:
    """List trials, failed ones too, newest first."""
    form = _form(as_json, as_csv)
    with opened(db) as database:
        found = database.trials(operator_name(operator), problem, model_of(device, database), status, limit)
        print_trials(found if sort is Order.TRIED else in_order(found, sort), form)


@app.command()
def problems(operator: OperatorArgument = None, db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the problems that have trials."""
    with opened(db) as database:
        found = database.problems(operator_name(operator))
    if as_json:
        print_json([asdict(problem) for problem in found])
    else:
        print_table("Problems", ("operator", "problem"), ((problem.operator, problem.key) for problem in found))


@app.command()
def devices(db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List the device models that have trials."""
    with opened(db) as database:
        found = database.devices()
    if as_json:
        print_json([asdict(device) for device in found])
    else:
        rows = ((device.model, "sm_{}{}".format(*device.compute_capability)) for device in found)
        print_table("Devices", ("device", "arch"), rows)


@app.command("export")
def export_trials(
    operator: OperatorArgument = None,
    device: ModelOption = None,
    best_only: Annotated[
        bool, typer.Option("--best", help="Export only the best trials of each problem and device.")
    ] = False,
    output: Annotated[Path | None, output_option("Write to this file instead of stdout.")] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write trials as a JSON document, which db import reads."""
    from autotune.compiler import compiler_version

    with opened(db) as database:
        selection = (operator_name(operator), model_of(device, database), best_only, compiler_version())
        if output is None:
            print_json(database.export(*selection))
            return
        database.write_export(output, *selection)
    if as_json:
        print_json({"path": output})
    else:
        print(f"wrote {printable(str(output))}")


@app.command()
def ship(
    operator: OperatorArgument = None,
    device: ModelOption = None,
    folder: Annotated[
        Path | None, typer.Option(help="Write to this folder.", show_default="the package's own, AUTOTUNE_PRETUNED")
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the best measured trials of each compiler to the files that ship with the package."""
    from autotune.db.pretuned import shipped_folder
    from autotune.db.shipping import ship as write

    if folder and not folder.parent.is_dir():
        raise BadInputError(f"{folder}: there is no folder {folder.parent}")
    with opened(db) as database:
        measured = database.shippable(operator_name(operator), model_of(device, database))
    if not measured:
        raise CommandError("no measured trials: run autotune tune on a GPU first")
    paths = write(measured, folder or shipped_folder())
    if as_json:
        print_json({"trials": len(measured), "paths": paths})
    else:
        print("\n".join(f"wrote {printable(str(path))}" for path in paths) or "nothing new: no file was written")


@app.command("import")
def import_trials(
    file: Annotated[Path, typer.Argument(help="A document that db export wrote.")],
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add the trials of an exported document. Of two trials with the same key, the better one stays."""
    from autotune.db import TuningDB
    from autotune.db.engine import check_lasting, database_url
    from autotune.db.exchange import read_document

    check_lasting(database_url(db))
    with user_input():
        try:
            document = read_document(file)
        except OSError as error:
            raise BadInputError(f"{file}: {error.strerror}; expected a file that db export wrote") from error
        with TuningDB(db) as database:
            try:
                counts = database.merge(document)
            except ValueError as error:
                raise BadInputError(f"{file}: {error}") from error
    if as_json:
        print_json(asdict(counts))
    else:
        print(f"{counts.added} added, {counts.replaced} replaced by better ones, {counts.kept} kept")


@app.command()
def path(db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Print where the database is."""
    with opened(db) as database:
        location = database.location
    if as_json:
        print_json({"location": location})
    else:
        print(location)
