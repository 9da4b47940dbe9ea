"""Proposing and compiling ahead of the device, in a thread of their own: the device waits for neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.devices.base import Device
from autotune.devices.replay import evaluable
from autotune.runs.history import History
from autotune.search_spaces.contract.operator import Operator

from .evaluator import Job

if TYPE_CHECKING:
    from autotune.db import TuningDB

    from .search.proposals import Proposals

# A search learns of a schedule only when as many others have begun. On synthetic recordings of an sgemm and a transpose
# it took 26 and 30 evaluations (medians) to come within 1 % of the optimum one by one, 53 and 34 with 4 ahead, 35 and
# 49 with 8, and 42 and 64 with 16. A few of gemm's kernels take seconds to compile: with 8 ahead, all may be such.
MOST_AHEAD = 16
_TOO_LATE = 0.3  # seconds before the end from which on a schedule is not proposed: compiling takes as long
_FIRST = 2.0  # seconds that the first candidate is waited for while others are ready; most kernels take less


class Ahead(Iterator[Job]):
    """Candidates of which some are always under way; a context manager that ends the thread.

    The first one whose kernel is ready comes next: the device does not wait for one that takes long to compile. But it
    waits some time for the very first one, which promises most: a short run may try no other. A result that it is told
    leads to one more proposal, unless the end is near, which knows this result and those before it. A proposal that
    takes long is made up for while the device works through the others.

    Args:
        proposals: what to try.
        trials: candidates at most.
        start: has the kernel of a schedule compiled.
        depth: candidates that are under way.
        in_order: whether candidates come in the order proposed, ready or not. Which results a proposal knows does not
            depend on how long anything takes then, so the order of proposals is certain.
        meanwhile: is called once in the thread, when as many as that are under way.
        seconds_left: until no more candidates are wanted; None stands for no end.
    """

    def __init__(
        self,
        proposals: Proposals,
        trials: int,
        start: Callable[[Schedule], Job],
        depth: int,
        in_order: bool,
        meanwhile: Callable[[], object],
        seconds_left: Callable[[], float | None],
    ) -> None:
        self._proposals, self._start = proposals, start
        self._left = islice(proposals, trials)
        self._depth, self._in_order, self._seconds_left = depth, in_order, seconds_left
        self._asked, self._told = depth, 0
        self._ended = False
        self._thread = ThreadPoolExecutor(1, "proposals")
        self._started = [self._thread.submit(self._next) for _ in range(depth)]
        self._very_first: Future[Job | None] | None = self._started[0]
        self._meanwhile = self._thread.submit(meanwhile)

    def __next__(self) -> Job:
        """Wait for the next candidate.

        The iteration ends when there is none and none will come, or when the time is over.

        Raises:
            Exception: what proposing or emitting raised.
        """
        while self._started and self._seconds_left() != 0:
            future = self._started[0] if self._in_order else self._first_ready()
            if future is None:
                break
            self._started.remove(future)
            if job := future.result():
                return job
        raise StopIteration

    @property
    def under_way(self) -> int:
        """How many candidates were asked for and not told."""
        return self._asked - self._told

    def tell(self, number: int) -> None:
        """What became of a candidate is in the study by this number; one more is started."""
        self._told += 1
        self._asked += 1
        self._started.append(self._thread.submit(self._learn, number))

    def end(self) -> None:
        """Propose no more, and give up the kernels that nobody compiles yet."""
        self._ended = True
        self._meanwhile.cancel()
        self._thread.shutdown()
        for future in self._started:
            if not future.exception() and (job := future.result()):
                job.kernel.cancel()

    def _first_ready(self) -> Future[Job | None] | None:
        """The first candidate whose kernel is compiled, or that there is nothing to wait for; None if time is over."""
        self._wait_for_the_very_first()
        while True:
            awaited = [_unfinished(future) for future in self._started]
            for future, unfinished in zip(self._started, awaited, strict=True):
                if unfinished is None:
                    return future
            if not wait(filter(None, awaited), self._seconds_left(), FIRST_COMPLETED).done:
                return None

    def _wait_for_the_very_first(self) -> None:
        end = monotonic() + _FIRST
        while self._very_first and (unfinished := _unfinished(self._very_first)):
            if not wait([unfinished], max(0.0, end - monotonic())).done:
                break
        self._very_first = None

    def _learn(self, number: int) -> Job | None:
        left = self._seconds_left()
        if self._ended or (left is not None and left <= _TOO_LATE):
            return None
        self._proposals.learn(number)
        return self._next()

    def _next(self) -> Job | None:
        schedule = None if self._ended else next(self._left, None)
        return self._start(schedule) if schedule else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.end()


def _unfinished(future: Future[Job | None]) -> Future[Any] | None:
    """What a candidate waits for: the thread that proposes it, then the compiler; None if it is ready."""
    if not future.done():
        return future
    job = None if future.exception() else future.result()
    return job.kernel if job and not job.kernel.done() else None


def compile_first(
    operator: Operator[Any, Any], problem: Problem, device: Device, db: TuningDB, pool: CompilePool, count: int
) -> None:
    """Have the reference of a problem compiled that is tuned later, and as many of its first candidates."""
    operator, spec = evaluable(operator, problem, device), device.spec
    history = History(operator, problem, device, db)
    known = history.tried()
    first = [schedule for schedule in history.first_candidates() if schedule not in known][:count]
    if operator.reference:
        pool.prepare(operator.reference(problem), spec.arch)
    for schedule in first:
        pool.prepare(operator.program(problem, schedule, spec), spec.arch)
