"""What a shell offers to complete: devices, runs, fields of schedules. Operators and options are commands' own."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum
from typing import Any

import typer

_RUNS = 50  # that are offered, the newest


def devices(incomplete: str) -> list[str]:
    """Devices that begin so; of several with commas between them, the last one."""
    from autotune.devices.driver import cuda_device_count
    from autotune.search_spaces.machine.devices import named_devices

    before, comma, begun = incomplete.rpartition(",")
    found = ["auto", *map(str, range(cuda_device_count())), *named_devices()]
    return [f"{before}{comma}{name}" for name in found if name.startswith(begun)]


def runs(incomplete: str) -> list[str]:
    """The newest runs of the user's database that begin so."""
    from autotune.db import DatabaseError, TuningDB

    with suppress(DatabaseError), TuningDB(create=False) as database:
        return [run.id for run in database.runs(_RUNS) if run.id.startswith(incomplete)]
    return []


def subjects(incomplete: str) -> list[str]:
    """Runs and operators that begin so."""
    from autotune.search_spaces.contract.registry import OPERATORS

    return [*runs(incomplete), *(name for name in OPERATORS if name.startswith(incomplete))]


def schedule_fields(context: typer.Context, incomplete: str) -> list[str]:
    """``NAME=`` for each field of schedules that begins so, and ``NAME=VALUE`` for those of few values."""
    from autotune.codegen.model.schedule import KERNEL
    from autotune.search_spaces.contract.registry import operator

    from .fields import fields_of

    with suppress(ValueError):  # a command that is none of an operator
        kernels: Any = operator(context.info_name or "").kernels
        words, begun = [f"{KERNEL}={kernel.name}" for kernel in kernels if kernel.name], incomplete.partition("=")[0]
        for schedule in (kernel.schedule_type for kernel in kernels):
            short = {name: word for word, name in schedule.short_names().items()}
            for field in fields_of(schedule):
                long = begun and field.name.startswith(begun)
                name = field.name if long else short.get(field.name, field.name)
                values = field.choices or (tuple(field.kind) if issubclass(field.kind, StrEnum) else ())
                words += [f"{name}={value}" for value in values] or [f"{name}="]
        return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]
    return []
