"""A named GPU that is not here: kernels compile for it, run in the CPU emulator, and get a modelled time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompiledKernel, CompileError, CompilerKilledError
from autotune.db.states import Status, TimeSource
from autotune.emulator import EmulatorError, EmulatorKilledError, HostCompilerMissingError, compiler_version, verify
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.time_model import model_version

from .base import DeviceError, Evaluation

_REMEMBERED = 100  # verdicts of the emulator by kernel: schedules may share the source of a small problem


class OfflineDevice:
    """A `Device` known only by its data file; its times are modelled and labelled so."""

    time_source = TimeSource.MODELLED

    def __init__(self, selector: str) -> None:
        """Look the device up by its identifier, such as ``h200``.

        Raises:
            DeviceError: no such device, or no C++ compiler for the emulator.
        """
        try:
            self.spec = named_device(selector)
            self.environment: Mapping[str, str] = {
                "emulator": compiler_version(),
                "time model": model_version(self.spec),
            }
        except (ValueError, HostCompilerMissingError) as error:
            raise DeviceError(str(error)) from None
        self.selector = selector

    @contextmanager
    def session(self, operator: Operator[Any, Any], problem: Problem, seed: int) -> Iterator[OfflineSession]:
        """Set up a problem; `seed` makes the inputs, and the order of threads, of one of the emulator's runs."""
        yield OfflineSession(operator, problem, self.spec, seed)


class OfflineSession:
    """A `Session` that verifies a schedule on the operator's check problems and models its time on the real one."""

    time_limit = 600.0  # the emulator's runs have limits of their own; compiling for them has none

    def __init__(self, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, seed: int) -> None:
        self._operator = operator
        self._problem = problem
        self._spec = spec
        # The emulator's first two orders are up and down, all others are random.
        self._seeds = (0, 1, 2 + seed)
        self._verify = lru_cache(_REMEMBERED)(self._emulate)

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Verify one kernel in the emulator, and model its time."""
        try:
            seconds = modelled_seconds(self._operator, self._problem, schedule, self._spec, kernel.resources)
        except ValueError as error:
            return Evaluation(Status.LAUNCH_ERROR, error=str(error))
        errors: list[float] = []
        for problem, like in self._operator.checks(self._problem, schedule):
            try:
                check = self._verify(problem, self._operator.program(problem, like, self._spec))
            except (EmulatorKilledError, CompilerKilledError) as error:
                return Evaluation(Status.CRASHED, error=str(error), killed=True)
            if check.status is not Status.OK:
                return check
            errors.append(check.max_error or 0.0)
        return Evaluation(Status.OK, (seconds,), max_error=max(errors, default=None))

    def _emulate(self, problem: Problem, program: Program) -> Evaluation:
        """What the emulator says of one kernel on one small problem.

        Raises:
            EmulatorKilledError, CompilerKilledError: it was killed, which is no verdict to remember.
        """
        try:
            return Evaluation(Status.OK, max_error=verify(problem, program, self._seeds, self._spec.compute_capability))
        except (EmulatorKilledError, CompilerKilledError):
            raise
        except EmulatorError as error:
            return Evaluation(Status.WRONG, error=f"{error}, for {problem.key}")
        except CompileError as error:
            return Evaluation(Status.COMPILE_ERROR, error=f"in the emulator: {error}")
