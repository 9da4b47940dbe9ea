"""``autotune db reduce``."""

from __future__ import annotations

from math import exp, fsum, log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import CommandError, user_input
from ..options import DatabaseOption, DeviceOption, JsonOption, MaxSlowdownOption, limits_of
from ..rendering.output import print_json, print_table
from ..rendering.trials import short_schedule_of

if TYPE_CHECKING:
    from ...db.reduction import Kept


def reduce(
    operator: Annotated[str, typer.Argument(help="The operator.")],
    device: DeviceOption = "auto",
    max_slowdown_pct: MaxSlowdownOption = 5.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the kept trials to this file, for import or to ship.")
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the fewest kernels that serve all recorded problems nearly as fast as their best ones."""
    from ...compiler import compiler_version
    from ...db import TuningDB
    from ...db.exchange import to_document, write_document
    from ...db.reduction import reduced
    from ...search_spaces.registry import operator as registered

    with user_input():
        name = registered(operator).name
    model = limits_of(device).name
    with TuningDB(db, create=False) as database:
        kept = reduced(database.trials(name, device=model), max_slowdown_pct / 100, compiler_version())
    if not kept:
        raise CommandError(f"no trial of {name} on {model} is ok: autotune tune makes some")
    if output:
        write_document(output, to_document(trial for one in kept for trial in one.trials))
    if as_json:
        print_json([_document(one) for one in kept])
        return
    title = f"{len(kept)} kernels serve {sum(len(one.trials) for one in kept)} problems of {name} on {model}"
    print_table(title, ("problems", "mean loss", "largest loss", "schedule"), map(_row, kept))


def _row(kept: Kept) -> tuple[Any, ...]:
    return len(kept.trials), f"{_mean(kept):.1%}", f"{max(kept.losses):.1%}", short_schedule_of(kept.trials[0])


def _document(kept: Kept) -> dict[str, Any]:
    return {
        "schedule": kept.trials[0].schedule,
        "problems": [trial.problem.key for trial in kept.trials],
        "losses": kept.losses,
        "mean_loss": _mean(kept),
    }


def _mean(kept: Kept) -> float:
    """By the geometric mean of the ratios."""
    return exp(fsum(log(1 + loss) for loss in kept.losses) / len(kept.losses)) - 1
