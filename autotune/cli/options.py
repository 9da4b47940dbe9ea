"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shlex import join, quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.base.files import checked_target

from . import completion
from .errors import BadInputError, user_input
from .operator_commands import named_operator

if TYPE_CHECKING:
    from autotune.db import RunRecord, TuningDB
    from autotune.devices.base import Device
    from autotune.devices.cuda import CudaDevice
    from autotune.devices.worker_device import WorkerDevice
    from autotune.search_spaces.machine.device_spec import DeviceSpec

DeviceOption = Annotated[
    str,
    typer.Option(
        help="The device: a GPU's number, an offline device such as h200, replay:FILE, or auto (GPU 0 if there is one, "
        "else h200).",
        metavar="DEVICE",
        autocompletion=completion.devices,
    ),
]
DevicesOption = Annotated[
    str,
    typer.Option(
        help="The device, a comma-separated list of devices, or all for every GPU. Devices tune at the same time.",
        metavar="DEVICE[,DEVICE]...",
        autocompletion=completion.devices,
    ),
]
MaxSlowdownOption = Annotated[
    float, typer.Option(min=0, help="How much slower than with its best kernel each problem may be, in per cent.")
]
ScheduleWords = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME=VALUE]...",
        help="Set a field of the schedule; other fields are as in the default schedule.",
        autocompletion=completion.schedule_fields,
    ),
]
WholeOption = Annotated[bool, typer.Option("--all", help="Show all in a terminal, too, not just a screen.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--db",
        help="The tuning database: a SQLite file or a PostgreSQL URL. Default: AUTOTUNE_DB, else a file in your data "
        "folder.",
        metavar="URL",
        show_default=False,
    ),
]

OperatorArgument = Annotated[str | None, typer.Argument(help="Select this operator only.", show_default=False)]
ProblemOption = Annotated[
    str | None, typer.Option("--problem", help="Select only the problem with this key.", metavar="KEY")
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--device", help="Select only this device: a model, or an offline device such as h200.", metavar="DEVICE"
    ),
]


def command_line(context: typer.Context, db: str | None, location: str) -> str:
    """The command line, for a run; the database is named by its location, which has no password."""
    named = {db: location, f"--db={db}": f"--db={location}"} if db else {}
    words = join(["autotune", *(named.get(word, word) for word in context.obj)])
    return words.encode("utf-8", "backslashreplace").decode("utf-8")  # databases hold no bytes that are no text


def chosen_database(db: str | None, location: str) -> str:
    """The option of a further command that names the database, if the user named one."""
    return f" --db {quote(location)}" if db else ""


def output_option(text: str) -> Any:
    """The option ``-o`` for a file; that it can be written is known before a command begins."""
    return typer.Option("--output", "-o", help=text, callback=checked_output)


def checked_output(path: Path | None) -> Path | None:
    """The path of an option, which can be written; `BadInputError` if not."""
    with user_input():
        if path is not None:
            checked_target(path)
    return path


def opened(url: str | None) -> TuningDB:
    """A database to read; one that the user names must exist."""
    from autotune.db.substitute import to_read

    return to_read(url)


def operator_name(name: str | None) -> str | None:
    """The name of an operator, if the user named one; `BadInputError` if there is none of that name."""
    with user_input():
        return name and named_operator(name).name


def run_of(database: TuningDB, name: str) -> RunRecord:
    """The run that the user named, by its id or its first digits."""
    with user_input():
        return database.run(name)


def model_of(text: str | None, database: TuningDB) -> str | None:
    """The device model of a selector, since the database stores trials by model."""
    from autotune.search_spaces.machine.devices import named_device, named_devices

    if text is None:
        return None
    if text in named_devices():
        return named_device(text).name
    models = [device.model for device in database.devices()]
    if text not in models:
        raise BadInputError(f"unknown device {text!r}; expected one of {', '.join([*models, *named_devices()])}")
    return text


def device_of(selector: str) -> Device:
    """The device that the user named; `BadInputError` if it is not there or cannot be used."""
    from autotune.devices.select import device

    with _device_errors():
        return device(selector)


def gpu_of(selector: str, command: str) -> CudaDevice:
    """The GPU that the user named for a command that needs one; `BadInputError` if it is none."""
    from autotune.devices.cuda import CudaDevice

    device = device_of(selector)
    if not isinstance(device, CudaDevice):
        raise BadInputError(
            f"{command} needs a GPU, which device {device.selector} is not: expected a number such as 0"
        )
    return device


def worker_device_of(selector: str, *, energy: bool = False) -> WorkerDevice:
    """`device_of` in a process of its own."""
    from autotune.devices.select import worker_device

    with _device_errors():
        return worker_device(selector, energy=energy)


@contextmanager
def worker_devices_of(selectors: str, *, energy: bool = False) -> Iterator[list[WorkerDevice]]:
    """The devices of `DevicesOption`, each in a process of its own, which ends with the context."""
    from autotune.devices.select import resolved_all

    with ExitStack() as opened:
        with _device_errors():
            names = resolved_all(selectors)
        yield [opened.enter_context(worker_device_of(name, energy=energy)) for name in names]


def spec_of(selector: str) -> DeviceSpec:
    """The `DeviceSpec` of a device, for commands that run nothing on it."""
    from autotune.devices.select import selected_spec

    with _device_errors():
        return selected_spec(selector)


@contextmanager
def _device_errors() -> Iterator[None]:
    from autotune.devices.base import DeviceError, DeviceLostError

    try:
        yield
    except DeviceLostError:  # which is no fault of what was typed
        raise
    except DeviceError as error:
        raise BadInputError(str(error)) from error
