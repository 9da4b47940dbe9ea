"""``autotune runs``: what was tuned when, and what came of it."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from autotune.cli import completion
from autotune.cli.errors import BadInputError
from autotune.cli.options import DatabaseOption, JsonOption, checked_output, opened, run_of
from autotune.cli.printable import printable
from autotune.cli.rendering.output import print_json
from autotune.cli.rendering.runs import print_run, print_runs

app = typer.Typer(invoke_without_command=True)

_NEWEST = 20

RunArgument = Annotated[
    str, typer.Argument(help="The run's id, or its first digits.", metavar="ID", autocompletion=completion.runs)
]


@app.callback()
def runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=2**63 - 1, help="How many runs to list at most.")] = _NEWEST,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs of tune and record, newest first."""
    if context.invoked_subcommand:
        if (limit, db, as_json) != (_NEWEST, None, False):
            name = context.invoked_subcommand
            raise BadInputError(f"options before {name} are those of the list: write them after autotune runs {name}")
        return
    with opened(db) as database:
        print_runs(database.runs(limit), as_json)


@app.command()
def show(run: RunArgument, db: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """Show a run: its command, options and devices, how it ended, and the best trial of each problem."""
    from autotune.compiler import compiler_version

    with opened(db) as database:
        found = run_of(database, run)
        bests = database.bests(found.only, compiler=compiler_version(), run=found.id)
        print_run(found, database.trials(found.only, run=found.id), bests, as_json)


@app.command()
def export(
    run: RunArgument,
    optuna: Annotated[
        Path,
        typer.Option(
            help="Write to this file, a journal of Optuna that optuna-dashboard opens.", callback=checked_output
        ),
    ],
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write what a run tried for the tools of Optuna, with a study for each problem and device model."""
    from autotune.runs.exported_run import export_run

    with opened(db) as database:
        trials = export_run(database, run_of(database, run), optuna)
    if as_json:
        print_json({"path": optuna, "trials": trials})
    else:
        file = printable(str(optuna))
        print(f"wrote {file}, {trials} trials; optuna-dashboard {quote(file)} shows them")
