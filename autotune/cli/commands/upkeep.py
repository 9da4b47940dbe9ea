"""``autotune db prune`` and ``autotune db backup``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.errors import user_input
from autotune.cli.options import DatabaseOption, JsonOption, checked_output, opened
from autotune.cli.printable import printable
from autotune.cli.rendering.output import print_json, print_table, tell

if TYPE_CHECKING:
    from autotune.db.pruning import Prunable


def prune(
    yes: Annotated[bool, typer.Option("--yes", help="Remove them. Without this they are only listed.")] = False,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the trials that can never serve again, or remove them. A best trial stays, even a stale one."""
    from autotune.compiler import compiler_version

    with opened(db) as database:
        tell("looking for trials that can never serve again")
        found = database.prune(compiler_version(), remove=yes)
    counts = _counts(found)
    if as_json:
        names = ("operator", "device", "reason", "status", "trials")
        print_json({"removed": yes, "trials": [dict(zip(names, row, strict=True)) for row in counts]})
        return
    if counts:
        print_table("Trials that can never serve again", ("operator", "device", "schedule", "status", "trials"), counts)
    did = "removed" if yes else "can go; autotune db prune --yes removes them" if found else "can go"
    print(f"{len(found)} trials {did}")


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.", callback=checked_output)],
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the database to a file, also while others use it."""
    with opened(db) as database, user_input():
        database.backup(file)
    if as_json:
        print_json({"path": file})
    else:
        print(f"wrote {printable(str(file))}")


def _counts(found: list[Prunable]) -> list[tuple[Any, ...]]:
    """How many there are of each operator, device, reason and status."""
    counts = Counter((one.operator, one.device, one.reason, str(one.status)) for one in found)
    return [(*what, count) for what, count in sorted(counts.items())]
