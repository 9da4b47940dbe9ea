"""A pool that compiles nothing and a device that models times: what is left of a tuning run is the tuner."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompiledKernel, compiler_version
from autotune.db import Status
from autotune.devices.base import Evaluation
from autotune.devices.offline import OfflineDevice
from autotune.search_spaces.contract.modelled_time import modelled_seconds


class Pool(AbstractContextManager[None]):
    """In the place of a `CompilePool`: every kernel has 128 registers."""

    processes = 4

    def __exit__(self, *_exception: object) -> None:
        """Nothing is to be ended."""

    def submit(self, program: Program, arch: str) -> Future[CompiledKernel]:
        """A future that is done."""
        future: Future[CompiledKernel] = Future()
        future.set_result(CompiledKernel(b"", Resources(128), arch, compiler_version()))
        return future


class Device(OfflineDevice):
    """Models times, as often as a GPU would sample them, and verifies nothing.

    Args:
        selector: of a named device.
        seconds: how long an evaluation takes.
    """

    def __init__(self, selector: str, seconds: float = 0.0) -> None:
        super().__init__(selector)
        self._seconds = seconds

    @contextmanager
    def session(self, operator: Any, problem: Problem, seed: int) -> Iterator[Any]:
        """The device is its own session."""
        self._operator, self._problem = operator, problem
        self.time_limit = 60.0
        yield self

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        """A modelled time."""
        time.sleep(self._seconds)
        try:
            seconds = modelled_seconds(self._operator, self._problem, schedule, self.spec, kernel.resources)
        except ValueError as error:
            return Evaluation(Status.LAUNCH_ERROR, error=str(error))
        return Evaluation(Status.OK, tuple(seconds * (1 + 1e-6 * sample) for sample in range(100)))
