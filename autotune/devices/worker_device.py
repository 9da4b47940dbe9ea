"""Any device in a process of its own: a kernel that crashes or hangs costs that process, which is started again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, Self

from autotune.base.worker import Worker, WorkerError, WorkerHungError, WorkerKilledError
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import CompiledKernel
from autotune.db.states import Status, TimeSource
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import DECLARED, register_declared
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .base import Device, DeviceLostError, Evaluation, Session
from .timing import setup_limit

_CLOSE_SECONDS = 60.0


class WorkerDevice:
    """A `Device` that lives in a process of its own, kept warm; a context manager that ends the process.

    Args:
        make: makes the device, there; a function that can be imported by its name, or a partial of one.

    Attributes:
        selector, spec, time_source, environment: see `Device`.

    Raises:
        DeviceError: the device cannot be used.
    """

    def __init__(self, make: Callable[[], Device]) -> None:
        self._make = make
        self._worker = self._started()
        with _loss_is_an_error("described the device"):
            facts: _Facts = self._worker.call("facts")
        self.selector, self.spec, self.time_source, self.environment = facts

    def session(self, operator: Operator[Any, Any], problem: Problem, seed: int) -> WorkerSession:
        """Set up a problem of a registered operator, with random inputs made from `seed`.

        Raises:
            DeviceError: the problem cannot be set up, or not within `setup_limit`.
        """
        return WorkerSession(self, operator, problem, seed)

    def worker(self) -> Worker:
        """The process, started again if it is gone."""
        if not self._worker.alive:
            self._worker = self._started()
        return self._worker

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._worker.end()

    def _started(self) -> Worker:
        with _loss_is_an_error("started"):
            return Worker(partial(_Host, self._make, DECLARED))


class WorkerSession:
    """A `Session` in the process of a `WorkerDevice`; a context manager.

    What a kernel does to the process becomes its status: `Status.TIMEOUT` if it does not end within `time_limit`,
    else `Status.CRASHED`. The next kernel gets a new process, with the same problem set up.
    """

    def __init__(self, device: WorkerDevice, operator: Operator[Any, Any], problem: Problem, seed: int) -> None:
        self._device = device
        self._setup = (operator.name, problem, seed)

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *_exception: object) -> None:
        with suppress(WorkerError):  # Ctrl-C may have ended it, and a driver may hang
            self._worker.call("close", seconds=_CLOSE_SECONDS)

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        """Verify and time one kernel; if the process is killed meanwhile, once more in a new one.

        Raises:
            DeviceError: there is no new process to be had after the last one ended.
        """
        if not self._worker.alive:
            self._open()
        found = self._evaluation(schedule, program, kernel)
        if found.status in (Status.CRASHED, Status.TIMEOUT):
            self._worker.end()  # a CUDA context that a kernel has destroyed stays so until its process ends
        return found

    def _evaluation(self, *candidate: Any, killed_before: bool = False) -> Evaluation:
        try:
            found: Evaluation = self._worker.call("evaluate", *candidate, seconds=self.time_limit)
        except WorkerHungError as error:
            return Evaluation(Status.TIMEOUT, error=f"measuring {error}")
        except WorkerError as error:
            killed = isinstance(error, WorkerKilledError)
            if killed and not killed_before:
                self._open()
                return self._evaluation(*candidate, killed_before=True)
            again = ", twice" * killed_before
            return Evaluation(Status.CRASHED, error=f"the process for measuring {error}{again}", killed=killed)
        return found

    def _open(self) -> None:
        self._worker = self._device.worker()
        _, problem, _ = self._setup
        with _loss_is_an_error(f"set up {problem.key}"):
            seconds = setup_limit(problem, self._device.spec)
            self.time_limit: float = self._worker.call("open", *self._setup, seconds=seconds)


@contextmanager
def _loss_is_an_error(doing: str) -> Iterator[None]:
    """Turn the end of the process into a `DeviceLostError`, where no kernel is to blame."""
    try:
        yield
    except WorkerError as error:
        raise DeviceLostError(f"the process for measuring {error} while it {doing}") from None


class _Facts(NamedTuple):
    """What a `Device` says of itself."""

    selector: str
    spec: DeviceSpec
    time_source: TimeSource
    environment: Mapping[str, str]


class _Host:
    """What lives in the process: the device, and one session at a time."""

    def __init__(self, make: Callable[[], Device], declared: Mapping[str, Callable[[], None]]) -> None:
        register_declared(declared)
        self._device = make()
        self._opened = ExitStack()

    def facts(self) -> _Facts:
        device = self._device
        return _Facts(device.selector, device.spec, device.time_source, dict(device.environment))

    def open(self, operator: str, problem: Problem, seed: int) -> float:
        """Set a problem up; the time limit of its evaluations."""
        self._session: Session = self._opened.enter_context(self._device.session(registered(operator), problem, seed))
        return self._session.time_limit

    def evaluate(self, schedule: Schedule, program: Program, kernel: CompiledKernel) -> Evaluation:
        try:
            return self._session.evaluate(schedule, program, kernel)
        except MemoryError:
            return Evaluation(Status.CRASHED, error="the process for measuring ran out of memory")

    def close(self) -> None:
        self._opened.close()
