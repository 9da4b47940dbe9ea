"""``autotune emit``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.base.files import write_text
from autotune.base.suggestion import did_you_mean
from autotune.cli.errors import BadInputError, user_input
from autotune.cli.operator_commands import problem_of
from autotune.cli.options import DeviceOption, JsonOption, ScheduleWords, output_option, spec_of
from autotune.cli.rendering.output import print_json

if TYPE_CHECKING:
    from autotune.codegen.model.argument import Argument
    from autotune.codegen.model.problem import Problem
    from autotune.codegen.model.program import Program
    from autotune.codegen.model.schedule import Schedule


def emit(
    operator: Any,
    fields: Mapping[str, Any],
    words: ScheduleWords = None,
    preset: Annotated[str | None, typer.Option(help="Print this preset instead. autotune show lists them.")] = None,
    output: Annotated[Path | None, output_option("Write the source to this file.")] = None,
    ptx: Annotated[bool, typer.Option("--ptx", help="Compile it, and print PTX, registers and spills.")] = False,
    sass: Annotated[
        bool, typer.Option("--sass", help="Compile it, and print the GPU's instructions. Needs nvdisasm.")
    ] = False,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Print the CUDA source of a schedule, or what the compiler makes of it."""
    from autotune import disassembly
    from autotune.codegen.source.listing import listing

    if ptx and sass:
        raise BadInputError("--ptx and --sass exclude each other")
    problem = problem_of(operator, fields)
    if preset is None:
        schedule, program = _of_schedule(operator, problem, words or [], device)
    elif words:
        raise BadInputError(f"--preset {preset} and {words[0]} exclude each other: a preset has its own schedule")
    else:
        schedule, program = None, _of_preset(operator, problem, preset)
    if ptx or sass:
        text = (disassembly.ptx if ptx else disassembly.sass)(program, spec_of(device).arch)
    else:
        text = listing(program)
    if output:
        write_text(output, text)
    if as_json:
        print_json(_document(operator, problem, schedule, program, output) | {"source": text})
    elif not output:
        print(text, end="")


def _of_schedule(operator: Any, problem: Problem, words: list[str], selector: str) -> tuple[Schedule, Program]:
    spec = spec_of(selector)
    with user_input():
        schedule = operator.parse(words, problem, spec)
        return schedule, operator.program(problem, schedule, spec)


def _of_preset(operator: Any, problem: Problem, preset: str) -> Program:
    if preset not in operator.presets:
        known = ", ".join(operator.presets) or "none"
        near = did_you_mean(preset, operator.presets)
        raise BadInputError(f"unknown preset {preset!r} of {operator.name}; {near}known: {known}")
    program: Program = operator.presets[preset](problem)
    return program


def _document(
    operator: Any, problem: Problem, schedule: Schedule | None, program: Program, output: Path | None
) -> dict[str, Any]:
    from autotune.codegen.model.launch import document

    modules = [
        {"arguments": [_argument(one) for one in module.arguments], "arch_suffix": module.arch_suffix}
        | {"source": module.source}
        for module in program.modules
    ]
    return {
        "operator": operator.name,
        "problem": problem.to_dict(),
        "schedule": schedule.to_dict() if schedule else None,
        "modules": modules,
        "steps": list(map(document, program.steps)),
        "workspace_bytes": program.workspace_bytes,
        "digest": program.digest,
        "path": output,
    }


def _argument(argument: Argument) -> dict[str, Any]:
    """What a launch may say otherwise is said there."""
    return {name: value for name, value in asdict(argument).items() if name not in ("given", "offset")}
