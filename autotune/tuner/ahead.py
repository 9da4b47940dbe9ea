"""Proposing and compiling ahead of the device, in a thread of their own: the device waits for neither."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

from ..codegen.schedule import Schedule
from ..db.trials import Trial
from .evaluator import Job

if TYPE_CHECKING:
    from .proposals import Candidate
    from .shared import SharedProposals

# A search learns of a schedule only when as many others have begun. On synthetic recordings of an sgemm and a transpose
# it took 26 and 30 evaluations (medians) to come within 1 % of the optimum one by one, 53 and 34 with 4 ahead, 35 and
# 49 with 8, and 42 and 64 with 16.
MOST_AHEAD = 8


class Started(NamedTuple):
    """A candidate whose kernel is being compiled."""

    candidate: Candidate
    job: Job


class Ahead(Iterator[Started]):
    """Candidates in the order proposed, of which some are always under way; a context manager that ends the thread.

    A result that it is told leads to one more proposal, which knows this result and those before it. Which ones are
    known does not depend on how long anything takes, so the order of proposals is certain. A proposal that takes long
    is made up for while the device works through the others.

    Args:
        proposals: what to try.
        trials: candidates at most.
        start: has the kernel of a schedule compiled.
        depth: candidates that are under way.
        given: candidates that come first whatever the results are.
        given_depth: how many of those are under way, which all compilers may work on.
    """

    def __init__(
        self,
        proposals: SharedProposals,
        trials: int,
        start: Callable[[Schedule], Job],
        depth: int,
        given: int = 0,
        given_depth: int = 0,
    ) -> None:
        self._proposals, self._start = proposals, start
        self._left = islice(proposals, trials)
        self._depth, self._given = depth, given
        self._asked = max(depth, min(given, given_depth))
        self._told = 0
        self._thread = ThreadPoolExecutor(1, "proposals")
        self._started: deque[Future[Started | None]] = deque(
            self._thread.submit(self._next) for _ in range(self._asked)
        )
        self._thread.submit(proposals.prepare)

    def __next__(self) -> Started:
        """Wait for the next candidate; the iteration ends when there is none and none will come.

        Raises:
            Exception: what proposing or emitting raised.
        """
        while self._started:
            if started := self._started.popleft().result():
                return started
        raise StopIteration

    @property
    def under_way(self) -> int:
        """How many candidates were asked for and not told."""
        return self._asked - self._told

    def tell(self, candidate: Candidate, trial: Trial) -> None:
        """What became of a candidate; one more is started, unless enough are under way."""
        self._told += 1
        more = self._asked < self._given or self.under_way < self._depth
        self._asked += more
        self._started.append(self._thread.submit(self._learn, candidate, trial, more))

    def _learn(self, candidate: Candidate, trial: Trial, more: bool) -> Started | None:
        self._proposals.tell(candidate, trial)
        return self._next() if more else None

    def _next(self) -> Started | None:
        candidate = next(self._left, None)
        return Started(candidate, self._start(candidate.schedule)) if candidate else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        """Give up the jobs that have not begun."""
        self._thread.shutdown(cancel_futures=True)
        for future in self._started:
            if not future.cancelled() and not future.exception() and (started := future.result()):
                started.job.kernel.cancel()
