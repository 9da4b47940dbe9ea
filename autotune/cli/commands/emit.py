"""``autotune emit``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...files import write_text
from ..errors import BadInputError, user_input
from ..operator_commands import problem_of
from ..options import DeviceOption, JsonOption, limits_of
from ..rendering.output import print_json

if TYPE_CHECKING:
    from ...codegen.problem import Problem
    from ...codegen.program import Program
    from ...codegen.schedule import Schedule


def emit(
    operator: Any,
    fields: Mapping[str, Any],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]...", help="Fields of the schedule that differ from the default one."),
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Print this named kernel instead; show lists them.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the source to this file.")] = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Print the CUDA source of a schedule."""
    problem = problem_of(operator, fields)
    if preset is None:
        schedule, source = _of_schedule(operator, problem, words or [], device)
    elif words:
        raise BadInputError(f"--preset {preset} and {words[0]} exclude each other: a preset has its schedule")
    else:
        schedule, source = None, _of_preset(operator, problem, preset)
    if output:
        write_text(output, source.text)
    if as_json:
        print_json(_document(operator, problem, schedule, source, output))
    elif not output:
        print(source.text, end="")


def _of_schedule(operator: Any, problem: Problem, words: list[str], selector: str) -> tuple[Schedule, Program]:
    limits = limits_of(selector)
    with user_input():
        schedule = operator.schedule_type.parse(words, operator.default(problem, limits))
        return schedule, operator.source(problem, schedule, limits)


def _of_preset(operator: Any, problem: Problem, preset: str) -> Program:
    if preset not in operator.presets:
        known = ", ".join(operator.presets) or "none"
        raise BadInputError(f"unknown preset {preset!r} of {operator.name}; known: {known}")
    source: Program = operator.presets[preset](problem)
    return source


def _document(
    operator: Any, problem: Problem, schedule: Schedule | None, source: Program, output: Path | None
) -> dict[str, Any]:
    return {
        "operator": operator.name,
        "problem": problem.to_dict(),
        "schedule": schedule.to_dict() if schedule else None,
        "entry": source.entry,
        "arguments": [asdict(argument) for argument in source.arguments],
        "launch": asdict(source.launch),
        "workspace_bytes": source.workspace_bytes,
        "digest": source.digest,
        "path": output,
        "text": source.text,
    }
