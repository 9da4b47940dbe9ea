"""A recorded GPU: kernels get the times of a recording, so that searches can be compared without the GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from autotune.base.errors import InputError
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompiledKernel
from autotune.db.states import Status
from autotune.search_spaces.contract.operator import Operator

from .base import Device, DeviceError, Evaluation
from .recording import Recording, load

PREFIX = "replay:"


class UnrecordedError(DeviceError, InputError):
    """A problem that a recording does not have."""


class ReplayDevice:
    """A `Device` that knows the times of one recording, and nothing of other problems.

    Its model is the recorded one's with a mark, so that no database takes a replayed time for one of the device.
    """

    def __init__(self, selector: str) -> None:
        """Read the recording that the selector names, such as ``replay:h200-sgemm.jsonl.gz``.

        Raises:
            DeviceError: there is no such file, or it is no recording.
        """
        path = Path(selector.removeprefix(PREFIX))
        try:
            self.recording = load(path)
        except OSError as error:
            raise DeviceError(f"{path}: {error.strerror}; expected a file that autotune record wrote") from None
        except ValueError as error:
            raise DeviceError(str(error)) from None
        self.selector = selector
        self.spec = replace(self.recording.spec, name=f"{self.recording.spec.name} (replayed)")
        self.time_source = self.recording.time_source
        self.environment: Mapping[str, str] = {"recording": path.name}

    @contextmanager
    def session(self, operator: Operator[Any, Any], problem: Problem, seed: int) -> Iterator[ReplaySession]:
        """Serve the recorded problem; `UnrecordedError` for another one."""
        self.recorded(operator, problem)
        yield ReplaySession(self.recording)

    def recorded(self, operator: Operator[Any, Any], problem: Problem) -> Operator[Any, Any]:
        """The operator with the recorded schedules.

        Raises:
            UnrecordedError: another problem was recorded.
        """
        name, key = self.recording.operator.name, self.recording.problem.key
        if (operator.name, problem.key) != (name, key):
            raise UnrecordedError(f"{self.recording.path} records {name} {key}, not {operator.name} {problem.key}")
        return self.recording.operator


class ReplaySession:
    """A `Session` that repeats what was recorded."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self.time_limit = 1.0  # for what only looks a time up

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        """The recorded verdict and times; a schedule without any is illegal here."""
        trial = self._recording.trials.get(schedule)
        if trial is None:
            return Evaluation(Status.ILLEGAL, error=f"{schedule} is not recorded in {self._recording.path}")
        return Evaluation(trial.status, trial.samples, trial.error, trial.max_error)


def evaluable(operator: Operator[Any, Any], problem: Problem, device: Device) -> Operator[Any, Any]:
    """The operator with the schedules that the device can evaluate: recorded ones, or on any other device all.

    Raises:
        UnrecordedError: the device cannot evaluate this problem.
    """
    # By its selector, since the device itself may live in another process.
    recorded = device.selector.startswith(PREFIX)
    return ReplayDevice(device.selector).recorded(operator, problem) if recorded else operator
