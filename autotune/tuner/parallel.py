"""Several devices that tune at the same time, each in a thread of one process.

The threads wait most of the time: what computes are the processes that compile and those that measure. So one pool of
compilers serves all devices.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from signal import SIGINT, SIGTERM
from typing import NamedTuple

from autotune.base.errors import InputError
from autotune.base.optuna_log import quiet_optuna
from autotune.base.signals import handled
from autotune.codegen.model.problem import Problem
from autotune.db.states import TimeSource
from autotune.devices.base import Device, DeviceError

from .options import TuneResult

_MOMENT = 0.5  # seconds

Tune = Callable[[Device, Problem, Problem | None, Callable[[], None]], TuneResult]


@dataclass(frozen=True)
class Queue:
    """Problems, and the devices of one model and kind of time that take them as they become free.

    Each problem is tuned by one of the devices only, since what one of them finds out holds for all. Those that work on
    a study together have a queue each.
    """

    devices: list[Device]
    problems: deque[Problem]

    @property
    def model(self) -> str:
        """Of the devices."""
        return self.devices[0].spec.name


def shared_out(
    devices: Sequence[Device], problems: Callable[[Device], Iterable[Problem]], together: bool = False
) -> list[Queue]:
    """A queue for each model and kind of time among the devices; `problems` is asked once for each.

    Args:
        devices: those that tune.
        problems: what a device is to tune.
        together: whether all devices tune every problem, and share its schedules by a study.
    """
    if together:
        return [Queue([device], deque(problems(device))) for device in devices]
    alike: dict[tuple[str, TimeSource], list[Device]] = {}
    for device in devices:
        alike.setdefault((device.spec.name, device.time_source), []).append(device)
    return [Queue(group, deque(problems(group[0]))) for group in alike.values()]


class Lost(NamedTuple):
    """A device that cannot be used any more, the problem that it was at, and why."""

    device: Device
    problem: Problem
    error: DeviceError


class Parallel:
    """A run on several devices.

    Args:
        tune: called as ``tune(device, problem, following, check)``, at once in one thread for each device. `following`
            is the next problem of the queue, None if there is none. It calls `check` now and then, which raises
            KeyboardInterrupt when the run is to end, and returns what `tuner.tune` does.

    Attributes:
        lost: the devices that cannot be used any more.
        interrupted: whether Ctrl-C or SIGTERM ended the run.
    """

    def __init__(self, tune: Tune) -> None:
        self.lost: list[Lost] = []
        self.interrupted = False
        self._tune = tune
        self._ending = False

    @quiet_optuna()  # which each call of tune would restore while others go on
    def run(self, queues: Iterable[Queue]) -> None:
        """Tune until the queues are empty; a device that is lost leaves its queue to the others.

        Ctrl-C and SIGTERM let each device end the evaluation that it is at. On one device they end that, too.

        Raises:
            Exception: what `tune` raised first, when all devices have ended; of `DeviceError` only an `InputError`.
        """
        turns = [(device, queue.problems) for queue in queues for device in queue.devices]
        if len(turns) == 1:
            self._serve(*turns[0])
            return
        with handled(self._interrupt, SIGINT, SIGTERM), ThreadPoolExecutor(len(turns)) as threads:
            served = [threads.submit(self._serve, *turn) for turn in turns]
            while wait(served, _MOMENT).not_done:  # a signal that comes as a wait begins is handled when it ends
                pass
        for one in served:
            one.result()

    def _serve(self, device: Device, problems: deque[Problem]) -> None:
        for problem in _taken(problems):
            try:
                if self._tune(device, problem, _first(problems), self._check).interrupted:
                    self._interrupt()
            except DeviceError as error:
                if isinstance(error, InputError):
                    self._ending = True
                    raise
                self.lost.append(Lost(device, problem, error))
                break
            except BaseException:
                self._ending = True
                raise
            if self._ending:
                break

    def _interrupt(self, *_signal: object) -> None:
        self.interrupted = self._ending = True

    def _check(self) -> None:
        if self._ending:
            raise KeyboardInterrupt


def _taken(problems: deque[Problem]) -> Iterator[Problem]:
    """Problems until there are none; other threads may take some, too."""
    with suppress(IndexError):
        while True:
            yield problems.popleft()


def _first(problems: deque[Problem]) -> Problem | None:
    """The next problem, unless another thread takes it; None if there is none."""
    with suppress(IndexError):
        return problems[0]
    return None
