"""``autotune occupancy``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.cli.errors import BadInputError, user_input
from autotune.cli.operator_commands import operator_commands, problem_of
from autotune.cli.options import DeviceOption, JsonOption, ScheduleWords, spec_of
from autotune.cli.rendering.occupancy import print_occupancy
from autotune.cli.rendering.output import print_json

if TYPE_CHECKING:
    from autotune.codegen.model.footprint import Footprint
    from autotune.search_spaces.machine.device_spec import DeviceSpec

_BYTES = re.compile(r"(\d{1,9})(K?)")


def of_schedule(
    operator: Any,
    fields: Mapping[str, Any],
    words: ScheduleWords = None,
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show how many blocks of a schedule an SM holds at once, what limits them, and what one more would need.

    The kernel is compiled: its registers and its shared memory are what ptxas reports.
    """
    from autotune.codegen.model.footprint import Footprint
    from autotune.compiler import compile_kernel

    problem, spec = problem_of(operator, fields), spec_of(device)
    with user_input():
        schedule = operator.parse(words or [], problem, spec)
        program = operator.program(problem, schedule, spec)
    kernels = []
    for part in program.parts:
        taken = compile_kernel(part, spec.arch).resources
        for launch in part.launches:
            shared = launch.shared_bytes + taken.shared_bytes
            kernels.append((launch.entry, Footprint(launch.threads, shared, taken.registers)))
    _print(spec, list(dict.fromkeys(kernels)), as_json, operator.name)


def of_block(
    context: typer.Context,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of a block.", show_default=False)] = None,
    registers: Annotated[int | None, typer.Option(min=1, help="Registers of a thread.", show_default=False)] = None,
    shared: Annotated[
        str, typer.Option(metavar="BYTES", help="Shared memory of a block, static and dynamic: bytes, or KiB (48K).")
    ] = "0",
    device: DeviceOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """Show how many blocks of a kernel an SM holds at once, what limits them, and what one more would need.

    Name what a block takes, or an operator and a schedule.
    """
    from autotune.codegen.model.footprint import Footprint

    if operator := context.invoked_subcommand:
        if (threads, registers, shared, device, as_json) != (None, None, "0", "auto", False):
            raise BadInputError(f"{operator} has options of its own: write them after it")
        return
    if threads is None or registers is None:
        raise BadInputError("expected --threads and --registers, or the name of an operator")
    _print(spec_of(device), [("", Footprint(threads, _bytes(shared), registers))], as_json)


app = operator_commands(of_schedule, alone=of_block)


def _print(spec: DeviceSpec, kernels: Sequence[tuple[str, Footprint]], as_json: bool, operator: str = "") -> None:
    from autotune.search_spaces.machine.occupancy_document import occupancy_document

    documents = [occupancy_document(spec, entry, block) for entry, block in kernels]
    if as_json:
        print_json(documents)
        return
    for document in documents:
        print_occupancy(document, operator)


def _bytes(text: str) -> int:
    """The number of ``49152`` or ``48K``."""
    found = _BYTES.fullmatch(text)
    if not found:
        raise BadInputError(f"--shared {text}: expected bytes, or KiB such as 48K")
    return int(found[1]) << (10 if found[2] else 0)
