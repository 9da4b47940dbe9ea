"""``autotune warm``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.errors import BadInputError, user_input
from autotune.cli.operator_commands import operator_commands
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, spec_of
from autotune.cli.rendering.output import print_json, print_table
from autotune.cli.suite import SuiteOption, entries_of

if TYPE_CHECKING:
    from autotune.dispatcher.calls.warming import Compiled


def of_problems(
    operator: Any,
    fields: Mapping[str, Any],
    suite: SuiteOption = None,
    device: DeviceOption = "auto",
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compile the kernels that the dispatcher uses, so that first calls find them in the cache. Needs no GPU."""
    from autotune.db import TuningDB
    from autotune.dispatcher.calls.warming import compile_ahead
    from autotune.dispatcher.choice.records import read_records

    problems = [entry.problem for entry in entries_of(operator, fields, suite)]
    spec = spec_of(device)
    warmed: list[Compiled] = []
    with TuningDB(db, create=False) as database:
        known = cache(lambda one: read_records(one, spec, database))
        for compiled in compile_ahead(operator, problems, spec, known):
            warmed.append(compiled)
            print(f"{len(warmed)}/{len(problems)}  {compiled.problem.key}", file=sys.stderr)
    if as_json:
        print_json([_document(compiled) for compiled in warmed])
    else:
        columns = ("problem", "rule", "record", "schedule")
        print_table(f"{operator.name} kernels in the cache for {spec.name}", columns, map(_row, warmed))


def of_lock(
    context: typer.Context,
    lock: Annotated[
        Path | None,
        typer.Option("--lock", help="Compile what this lock names, into a folder beside it.", show_default=False),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compile the kernels that the dispatcher uses, so that first calls find them. Needs no GPU.

    Name an operator and problems, or a lock.
    """
    if operator := context.invoked_subcommand:
        if lock or as_json:
            raise BadInputError(f"{operator} has options of its own: write them after it")
        return
    if lock is None:
        raise BadInputError("expected --lock, or the name of an operator")
    _warm_lock(lock, as_json)


app = operator_commands(of_problems, alone=of_lock)


def _warm_lock(path: Path, as_json: bool) -> None:
    from autotune.base.files import atomic_write
    from autotune.dispatcher.calls.warming import compile_locked
    from autotune.dispatcher.lock.lock import Lock

    lock, kernels = Lock(path), set[str]()
    with user_input():
        lock.folder.mkdir(exist_ok=True)
        for number, compiled in enumerate(compile_locked(lock), 1):
            for digest, cubin in zip(compiled.locked.cubins, compiled.kernel.cubins, strict=True):
                kernels.add(digest)
                with atomic_write(lock.cubin(digest)) as written:
                    written.write_bytes(cubin)
            print(f"{number}/{len(lock.choices)}  {compiled.locked.title}", file=sys.stderr)
    if as_json:
        print_json({"folder": str(lock.folder), "choices": len(lock.choices), "kernels": len(kernels)})
    else:
        print(f"{lock.folder}: {len(kernels)} kernels for {len(lock.choices)} choices")


def _row(compiled: Compiled) -> tuple[Any, ...]:
    return compiled.problem.key, compiled.choice.rule, compiled.choice.record, compiled.choice.schedule.summary


def _document(compiled: Compiled) -> dict[str, Any]:
    choice = compiled.choice
    return {
        "problem": compiled.problem.key,
        "rule": choice.rule,
        "record": choice.record,
        "schedule": choice.schedule.to_dict(),
    }
