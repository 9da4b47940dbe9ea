"""The device protocol: all that the tuner and the command line know about a device."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol, runtime_checkable

from autotune.base.errors import AutotuneError
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompiledKernel
from autotune.db.states import Status, TimeSource
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec


class DeviceError(AutotuneError, RuntimeError):
    """A device that is missing or cannot be used; the message is one line that names the remedy."""


class DeviceLostError(DeviceError):
    """The process in which a device lives ended, whoever named the device."""


@dataclass(frozen=True)
class Evaluation:
    """What a device found out about one kernel.

    Attributes:
        status: `Status.OK` if the output is right and there are times.
        samples: seconds of each timed launch (or one modelled time), in the order taken.
        error: one line that says what went wrong, empty if nothing did.
        max_error: largest absolute error of the output, None where it was not compared.
        conditions: how the device took the samples, as JSON values: clocks, temperature, …, and ``stopped_early`` if
            fewer than planned were enough; ``joules`` and ``watts`` of launches where these are measured.
        killed: whether its process was killed from outside, twice: the kernel may not be to blame.
    """

    status: Status
    samples: tuple[float, ...] = ()
    error: str = ""
    max_error: float | None = None
    conditions: Mapping[str, Any] = field(default_factory=dict)
    killed: bool = False

    @property
    def seconds(self) -> float | None:
        """Median of the samples; None if there are none."""
        return median(self.samples) if self.samples else None


class Session(Protocol):
    """One problem set up on a device, with inputs, reference and timing for many kernels.

    Attributes:
        time_limit: seconds after which an evaluation can be taken to hang.
    """

    @property
    def time_limit(self) -> float: ...  # noqa: D102

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Verify and time one kernel. What the kernel does wrong becomes a status, never an exception."""


@runtime_checkable
class Device(Protocol):
    """A device by its selector (``0``, ``h200``).

    Attributes:
        selector: its name on the command line.
        spec: its limits and rates; `spec.name` is the model under which the database stores trials.
        time_source: whether its times are measured or modelled.
        environment: provenance of its times, such as the driver's version and the device's UUID; plain strings.
    """

    selector: str
    spec: DeviceSpec
    time_source: TimeSource
    environment: Mapping[str, str]

    def session(self, operator: Operator[Any, Any], problem: Problem, seed: int) -> AbstractContextManager[Session]:
        """Set up a problem with random inputs made from `seed`."""
