"""``autotune report``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.base.files import write_text
from autotune.cli import completion
from autotune.cli.errors import BadInputError, CommandError, user_input
from autotune.cli.operator_commands import is_file
from autotune.cli.options import (
    DatabaseOption,
    JsonOption,
    ModelOption,
    ProblemOption,
    model_of,
    opened,
    operator_name,
    output_option,
    run_of,
)
from autotune.cli.printable import printable
from autotune.cli.rendering.output import print_json, tell
from autotune.cli.rendering.runs import facts

if TYPE_CHECKING:
    from autotune.db import RunRecord, TuningDB
    from autotune.report.subject import Group, Skipped


def report(
    subject: Annotated[
        str | None,
        typer.Argument(
            help="A run, by its id or its first digits, or an operator. Default: the newest run.",
            metavar="[RUN | OPERATOR]",
            show_default=False,
            autocompletion=completion.subjects,
        ),
    ] = None,
    problem: ProblemOption = None,
    device: ModelOption = None,
    bench: Annotated[
        list[Path] | None,
        typer.Option(help="Show this result of autotune bench -o, too. May be given several times.", metavar="FILE"),
    ] = None,
    profile: Annotated[
        list[Path] | None,
        typer.Option(
            help="Show these counters of autotune profile -o, too. May be given several times.", metavar="FILE"
        ),
    ] = None,
    output: Annotated[
        Path | None, output_option("Write the page to this file. Default: report-RUN.html or report-OPERATOR.html.")
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a page of HTML with what is known of a run or an operator: one file, which needs no network."""
    from autotune.report.benches import read_bench
    from autotune.report.document import document
    from autotune.report.page import page
    from autotune.report.profiles import read_profile
    from autotune.report.subject import possible

    with user_input():
        benches = [read_bench(path) for path in bench or []]
        profiles = [read_profile(path) for path in profile or []]
    tell("drawing")
    with opened(db) as database:
        operator, run = _subject(subject, database)
        groups, skipped = _groups(database, operator, run, problem, model_of(device, database))
        models = dict.fromkeys(group.known.spec.name for group in groups)
        calibrations = {model: found for model in models if (found := database.calibration(model))}
        bests = (best for model in models for best in database.leading(model))
        records, others = possible(bests)
    told = facts(run, [trial for group in groups for trial in group.trials]) if run else []
    title = f"autotune: {operator} on {', '.join(models)}{f', run {run.id}' if run else ''}"
    text = page(document(title, told, groups, records, benches, calibrations, profiles))
    path = output or Path(f"report-{run.id if run else operator}.html")
    with user_input():
        write_text(path, text)
    if skipped := skipped | others:
        print(_left_out(skipped), file=sys.stderr)
    trials = sum(len(group.trials) for group in groups)
    if as_json:
        print_json({"path": path, "bytes": len(text.encode()), "trials": trials, "problems": len(groups)})
    else:
        print(f"wrote {printable(str(path))}, {trials} trials: open it in a browser")


def _subject(name: str | None, database: TuningDB) -> tuple[str, RunRecord | None]:
    """The operator and, unless all of its trials are meant, the run."""
    from autotune.search_spaces.contract.registry import OPERATORS

    if name is None:
        for newest in database.runs():
            if newest.only:
                return newest.only, newest
        raise BadInputError(f"{database.location} has no runs of one operator: run autotune tune, or name an operator")
    if name in OPERATORS or is_file(name):
        return operator_name(name) or name, None
    run = run_of(database, name)
    if run.only is None:
        raise BadInputError(f"run {run.id} is of several operators: name one of {', '.join(OPERATORS)}")
    return run.only, run


def _groups(
    database: TuningDB, operator: str, run: RunRecord | None, problem: str | None, device: str | None
) -> tuple[list[Group], Skipped]:
    from autotune.compiler import compiler_version
    from autotune.report.subject import groups_of

    groups, skipped = groups_of(database, operator, compiler_version(), run.id if run else None, problem, device)
    if not groups:
        of = f"run {run.id}" if run else operator
        selected = " that these options select" if problem or device else ""
        left_out = f"; {_left_out(skipped)}" if skipped else ""
        raise CommandError(f"{database.location} has no trials of {of}{selected}{left_out}")
    return groups, skipped


def _left_out(skipped: Skipped) -> str:
    """How many trials are not on the page, and why the first one is not."""
    count, ((_, operator, key, *_), why) = len(skipped), next(iter(skipped.items()))
    return printable(f"skipped {count} trial{'s' * (count > 1)}, the first one of {operator} {key}: {why}")
