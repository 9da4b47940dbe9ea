"""``autotune db reduce``."""

from __future__ import annotations

from math import exp, fsum, log
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.errors import CommandError, user_input
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, MaxSlowdownOption, output_option, spec_of
from autotune.cli.rendering.output import print_json, print_table

if TYPE_CHECKING:
    from autotune.db.reduction import SelectedKernel


def reduce(
    operator: Annotated[str, typer.Argument(help="The operator whose kernels to reduce.")],
    device: DeviceOption = "auto",
    max_slowdown_pct: MaxSlowdownOption = 5.0,
    output: Annotated[
        Path | None,
        output_option("Write their trials to this file, which db import reads."),
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the fewest kernels that serve all recorded problems nearly as fast as their best ones."""
    from autotune.compiler import compiler_version
    from autotune.db import TuningDB
    from autotune.db.exchange import to_document, write_document
    from autotune.db.reduction import reduced
    from autotune.search_spaces.contract.registry import operator as registered

    with user_input():
        name = registered(operator).name
    model = spec_of(device).name
    with TuningDB(db, create=False) as database:
        selected = reduced(database.trials(name, device=model), max_slowdown_pct / 100, compiler_version())
    if not selected:
        raise CommandError(f"there is no ok trial of {name} on {model}: run autotune tune first")
    if output:
        write_document(output, to_document(trial for one in selected for trial in one.trials))
    if as_json:
        print_json([_document(kernel) for kernel in selected])
        return
    title = f"{len(selected)} kernels serve {sum(len(one.trials) for one in selected)} problems of {name} on {model}"
    print_table(title, ("problems", "mean loss", "largest loss", "schedule"), map(_row, selected))


def _row(selected: SelectedKernel) -> tuple[Any, ...]:
    return (
        len(selected.trials),
        f"{_mean(selected):.1%}",
        f"{max(selected.losses):.1%}",
        selected.trials[0].summary,
    )


def _document(kernel: SelectedKernel) -> dict[str, Any]:
    return {
        "schedule": kernel.trials[0].schedule,
        "problems": [trial.problem.key for trial in kernel.trials],
        "losses": kernel.losses,
        "mean_loss": _mean(kernel),
    }


def _mean(kernel: SelectedKernel) -> float:
    """By the geometric mean of the ratios."""
    return exp(fsum(log(1 + loss) for loss in kernel.losses) / len(kernel.losses)) - 1
