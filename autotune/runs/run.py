"""A run: what is stored of a command, or of a call of `tune`, when it begins and when it ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from socket import gethostname
from typing import TYPE_CHECKING, Any

from autotune.base.errors import AutotuneError
from autotune.db.states import Outcome
from autotune.devices.base import Device

from .provenance import environment

if TYPE_CHECKING:
    from autotune.db import TuningDB

A_CALL = "autotune.tune()"  # the command of a run that is a call of Python


@dataclass
class Run:
    """A run that goes on.

    Attributes:
        id: as the database and the trials of studies have it.
        interrupted: whether Ctrl-C or SIGTERM ended it, which its end is then stored as.
    """

    id: str
    interrupted: bool = False


@contextmanager
def begun(
    db: TuningDB, command: str, operator: str, devices: Sequence[Device], options: Mapping[str, Any]
) -> Iterator[Run]:
    """A run, which is stored now, and whose end is stored when the context ends.

    Args:
        db: where it is stored.
        command: the command line, without passwords.
        operator: the name of what is tuned, or `SEVERAL`.
        devices: what it is tuned for.
        options: how, sampler and seed included; what is None was not given.

    Raises:
        DatabaseError: it cannot be stored.
    """
    from autotune.db.run_record import RunRecord

    given = {name: value for name, value in options.items() if value is not None}
    sampler, seed = given.pop("sampler"), given.pop("seed")
    record = RunRecord(command, operator, given, sampler, seed, [_plain(device) for device in devices])
    run = Run(record.id)
    with db.running(record):
        try:
            yield run
        except BaseException as error:
            run.interrupted |= isinstance(error, KeyboardInterrupt)
            with suppress(AutotuneError):  # what ended the run is told; its end is then that of a killed one
                _end(db, run, Outcome.FAILED, _one_line(error))
            raise
        _end(db, run, Outcome.DONE)


def _end(db: TuningDB, run: Run, outcome: Outcome, error: str = "") -> None:
    if run.interrupted:
        outcome, error = Outcome.INTERRUPTED, ""
    db.end_run(run.id, outcome, error)


def _one_line(error: BaseException) -> str:
    said = " ".join(str(error).split())
    return said if isinstance(error, AutotuneError | OSError) else f"{type(error).__name__}: {said}"


def _plain(device: Device) -> dict[str, Any]:
    named = {"selector": device.selector, "model": device.spec.name, "time_source": str(device.time_source)}
    return {**named, "host": gethostname(), **environment(device)}
