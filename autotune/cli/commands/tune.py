"""``autotune tune``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli import completion
from autotune.cli.early_warnings import warn_of_cache, warn_of_database, warn_of_new_models, warn_of_options
from autotune.cli.errors import BadInputError, user_input
from autotune.cli.operator_commands import is_file
from autotune.cli.options import (
    DatabaseOption,
    DevicesOption,
    JsonOption,
    chosen_database,
    command_line,
    worker_devices_of,
)
from autotune.cli.rendering.dry_run import outlook_document, print_outlook, print_outlooks
from autotune.cli.rendering.output import print_json, tell
from autotune.cli.rendering.progress import shown_progress
from autotune.cli.suite import SuiteOption, entries_of
from autotune.cli.tune_outcome import check_outcome, print_end
from autotune.cli.tune_problems import not_empty, stale_of, statements_of, untuned_of
from autotune.cli.tune_searches import Searches
from autotune.db.states import Objective

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.db import TuningDB
    from autotune.devices.base import Device
    from autotune.tuner import TuneOptions
    from autotune.tuner.parallel import Queue

# Seconds. The thread that measures needs the interpreter for moments, often, and the one that proposes all of the time:
# with Python's 5 ms, a device waits for each of these moments.
TURN = 0.0005


def tune(
    operator: Any,
    fields: Mapping[str, Any],
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FIELD=VALUE,…]...",
            help="Try only schedules with one of these values of a field.",
            autocompletion=completion.schedule_fields,
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            help="Try no schedules with these values of a field; of a field alone, only its default.",
            metavar="FIELD[=VALUE,…]",
        ),
    ] = None,
    device: DevicesOption = "auto",
    trials: Annotated[int, typer.Option(help="How many new schedules to try at most, for each problem.")] = 200,
    seconds: Annotated[
        float | None, typer.Option(help="How long to tune each problem at most, in seconds.", show_default=False)
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(help="End after so many trials without a better schedule, for each problem.", show_default=False),
    ] = None,
    objective: Annotated[
        Objective, typer.Option(help="Minimise the time of a launch, or its energy, which a GPU measures in a second.")
    ] = Objective.TIME,
    sampler: Annotated[
        str, typer.Option(help="The sampler: bayes, or Optuna's tpe, random, nsga2, brute_force or gp.")
    ] = "bayes",
    seed: Annotated[int, typer.Option(help="The seed of the sampler and of the random inputs.")] = 0,
    suite: SuiteOption = None,
    stale: Annotated[
        bool,
        typer.Option("--stale", help="Tune the problems whose record on the device is stale. db doctor lists them."),
    ] = False,
    untuned: Annotated[
        bool,
        typer.Option("--untuned", help="Tune the problems that programs called without a record, most called first."),
    ] = False,
    study: Annotated[
        str | None,
        typer.Option(help="A name for the study that tuners share: each tries other schedules. Needs PostgreSQL."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be tried, and how long it takes. Nothing is compiled.")
    ] = False,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the fastest schedule of a problem on one or several devices.

    The same command continues where an earlier run stopped. A problem that another operator may serve is tuned as that
    one's, too.
    """
    from autotune.compile_pool import CompilePool
    from autotune.db import TuningDB
    from autotune.db.engine import check_lasting, check_shared, database_url
    from autotune.runs.run import begun
    from autotune.search_spaces.contract.asked import asked_for
    from autotune.search_spaces.contract.generator import vouches
    from autotune.tuner import TuneOptions
    from autotune.tuner.parallel import Parallel, shared_out

    with user_input():
        only, without = tuple(words) if words else None, tuple(exclude) if exclude else None
        options = TuneOptions(trials, seconds, sampler, seed, None, study, patience, objective, only, without)
        asked_for(operator, words or (), exclude or ())
    chosen = [name for name, given in (("suite", suite), ("stale", stale), ("untuned", untuned)) if given]
    if len(chosen) > 1:
        raise BadInputError(f"--{' and --'.join(chosen)} exclude each other: each selects the problems to tune")
    check_lasting(url := database_url(db))
    if study is not None:
        check_shared(url)
    if stale or untuned:
        warn_of_options(context, fields, f"with --{chosen[0]}, which selects the problems")
    warn_of_database(url)
    warn_of_cache()

    def problems(target: Device) -> list[Problem]:
        if stale:
            return stale_of(operator, target, database)
        if untuned:
            return untuned_of(operator, target, database)
        return not_empty(operator, [entry.problem for entry in entries_of(operator, fields, suite)])

    sys.setswitchinterval(TURN)
    measured = objective is Objective.ENERGY
    tell("starting the processes that compile and measure")
    with CompilePool() as pool, worker_devices_of(device, energy=measured) as targets, TuningDB(db) as database:
        queues = shared_out(targets, problems, together=study is not None)
        if not any(queue.problems for queue in queues):
            print_end(database.location, None, [], as_json, db, "")
            return
        if dry_run:
            _show_outlooks(operator, queues, database, options, as_json)
            return
        _tell_who_waits(queues)
        if vouches(operator):  # none ship of others
            warn_of_new_models(operator.name, targets, database)
        with begun(
            database, command_line(context, db, database.location), operator.name, targets, asdict(options)
        ) as run:
            with shown_progress() as screen:
                searches = Searches(operator, database, options, pool, run, screen, len(targets) > 1, as_json)
                (parallel := Parallel(searches.tune)).run(queues)
            run.interrupted = parallel.interrupted
            named = context.info_name or operator.name
            print_end(database.location, run.id, searches.results, as_json, db, named if is_file(named) else run.id)
            listing = f"autotune db trials {named}{chosen_database(db, database.location)}"
            check_outcome(searches.results, queues, parallel, listing)


def _show_outlooks(operator: Any, queues: list[Queue], database: TuningDB, options: TuneOptions, as_json: bool) -> None:
    """Say what would be tried of each problem on each device model."""
    from autotune.runs.outlook import outlook, pace
    from autotune.search_spaces.contract.asked import asked_for

    runs = [(queue.devices[0], problem) for queue in queues for problem in queue.problems]
    asked = [(by, stated, on) for on, problem in runs for by, stated in statements_of(operator, problem, on)]
    brief, paces = len(runs) > 1, cache(partial(pace, database))
    looked = []
    for by, stated, on in asked:
        seconds = paces(by.name, on.spec.name, on.time_source)
        restricted = asked_for(by, options.only or (), options.exclude or ())
        looked.append((by, stated, on, outlook(restricted, stated, on, database, seconds, brief=brief), options))
    if as_json:
        print_json([outlook_document(*one) for one in looked])
    elif brief:
        print_outlooks(looked)
    else:
        for one in looked:
            print_outlook(*one)


def _tell_who_waits(queues: list[Queue]) -> None:
    """Warn if a model has more devices than problems."""
    for queue in queues:
        devices, problems = len(queue.devices), len(queue.problems)
        if 0 < problems < devices:
            print(
                f"{devices} devices are {queue.model}, and each problem is tuned by one of them: "
                f"{devices - problems} will be idle",
                file=sys.stderr,
            )
