"""``autotune warm``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, spec_of
from autotune.cli.rendering.output import print_json, print_table
from autotune.cli.suite import SuiteOption, entries_of

if TYPE_CHECKING:
    from autotune.dispatcher.calls.warming import Compiled


def warm(
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
        for compiled in compile_ahead(operator, problems, spec, lambda one: read_records(one, spec, database)):
            warmed.append(compiled)
            print(f"{len(warmed)}/{len(problems)}  {compiled.problem.key}", file=sys.stderr)
    if as_json:
        print_json([_document(compiled) for compiled in warmed])
    else:
        columns = ("problem", "rule", "record", "schedule")
        print_table(f"{operator.name} kernels in the cache for {spec.name}", columns, map(_row, warmed))


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
