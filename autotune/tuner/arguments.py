"""What `tune` is called with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.devices.base import Device
from autotune.search_spaces.contract.operator import Operator

from .options import TuneOptions

if TYPE_CHECKING:
    from autotune.db import TuningDB


def check_arguments(
    operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB, options: TuneOptions
) -> None:
    """Refuse what is of another type, such as a name.

    Raises:
        TypeError: one line that says what is expected.
    """
    from autotune.db import TuningDB

    if not isinstance(operator, Operator):
        raise TypeError(f"operator={operator!r}: expected an Operator, such as autotune.operator('sgemm')")
    if not isinstance(problem, operator.problem_type):
        raise TypeError(f"problem={problem!r}: expected a {operator.problem_type.__name__}")
    if not isinstance(device, Device):
        raise TypeError(f"device={device!r}: expected a device, such as autotune.worker_device('h200')")
    if not isinstance(db, TuningDB):
        raise TypeError(f"db={db!r}: expected a database, such as autotune.TuningDB('tuning.sqlite3')")
    if not isinstance(options, TuneOptions):
        raise TypeError(f"options={options!r}: expected TuneOptions, such as autotune.TuneOptions(trials=200)")
