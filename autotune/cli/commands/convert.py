"""``autotune convert``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.errors import BadInputError, user_input
from autotune.cli.operator_commands import named_operator, problem_of
from autotune.cli.options import DeviceOption, output_option, spec_of


class Format(StrEnum):
    """The file formats that a recording can be converted to."""

    KERNEL_TUNER = "kernel-tuner"
    T1 = "t1"
    T4 = "t4"


class Source(StrEnum):
    """The file formats that become a recording."""

    KERNEL_TUNER = "kernel-tuner"
    T4 = "t4"


def convert(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that autotune record wrote; with --from, of that format.")
    ],
    output: Annotated[Path, output_option("Write the result to this file.")],
    to: Annotated[
        Format | None, typer.Option(help="The format: a cache of Kernel Tuner, a T1 search space, or T4 results.")
    ] = None,
    source: Annotated[
        Source | None, typer.Option("--from", help="Make a recording of what others measured, in this format.")
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="With --from: the operator that was measured, or a file with your kernel.")
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--problem", metavar="NAME=VALUE", help="With --from: a size of the problem; may be given again."),
    ] = None,
    device: DeviceOption = "auto",
) -> None:
    """Convert a recording to another file format, or what others measured to a recording."""
    if (to is None) == (source is None):
        raise BadInputError("expected --to FORMAT for a recording, or --from FORMAT for what becomes one")
    if to:
        _write(path, to, output)
    elif operator is None:
        raise BadInputError("--from: expected --operator, the name of an operator or a file with your kernel")
    else:
        _take_over(path, operator, dict(map(_field, fields or [])), device, output)


def _write(path: Path, to: Format, output: Path) -> None:
    from autotune.bench.search.kernel_tuner import cache_document, t4_document
    from autotune.bench.search.t1 import t1_document
    from autotune.db.exchange import write_document
    from autotune.devices.recording import load

    with user_input():
        recording = load(path)
    documents = {Format.KERNEL_TUNER: cache_document, Format.T1: t1_document, Format.T4: t4_document}
    write_document(output, documents[to](recording))


def _take_over(path: Path, name: str, fields: dict[str, Any], device: str, output: Path) -> None:
    """Write what others have measured on a device that need not be here."""
    from autotune.bench.search.foreign_trials import foreign_trials
    from autotune.db.recording import write_recording

    with user_input():
        operator = named_operator(name)
    problem, spec = problem_of(operator, fields), spec_of(device)
    with user_input():
        recorded = foreign_trials(path, operator, problem, spec)
    if not any(trial.status == "ok" for trial in recorded):
        raise BadInputError(f"{path} has no time of a schedule that is legal for {problem.key} on {spec.name}")
    write_recording(output, recorded)


def _field(word: str) -> tuple[str, Any]:
    """A size, a flag or a word of a problem."""
    name, _, value = word.partition("=")
    if not value:
        raise BadInputError(f"--problem {word}: expected NAME=VALUE, such as n=4096")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
