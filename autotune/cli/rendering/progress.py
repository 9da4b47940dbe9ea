"""Tuning runs while they run, on stderr: live in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from autotune.base.log import messages_shown
from autotune.cli.printable import printable
from autotune.db.states import Status
from autotune.search_spaces.machine.rates import peak_share, rate

from .trials import energy, timed

if TYPE_CHECKING:
    from rich.live import Live

    from autotune.codegen.model.problem import Problem
    from autotune.db import Trial
    from autotune.search_spaces.machine.roofline import Peaks
    from autotune.tuner import Progress, TuneOptions

_PAUSE = 10  # seconds between lines while nothing better is found


class Screen(Protocol):
    """Where runs are shown, from any thread."""

    def run(
        self, title: str, problem: Problem, peaks: Peaks, options: TuneOptions, label: str = ""
    ) -> AbstractContextManager[Callable[[Progress], None]]:
        """What `tune` calls after each evaluation, while the run is shown; `label` tells it from others."""

    def paused(self) -> AbstractContextManager[object]:
        """While results are printed, which one thread does at a time."""


@contextmanager
def shown_progress() -> Iterator[Screen]:
    """The terminal that stderr is, or lines."""
    if not sys.stderr.isatty() or messages_shown():
        yield _Lines()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, redirect_stdout=False) as live:
        yield _Terminal(live)


class _Terminal:
    """A bar for each run that goes on, below it the best so far, and how the trials ended."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._bars: list[Any] = []
        self._turn = Lock()

    @contextmanager
    def run(
        self, title: str, problem: Problem, peaks: Peaks, options: TuneOptions, label: str = ""
    ) -> Iterator[Callable[[Progress], None]]:
        from rich.console import Group
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.text import Text

        bar = Progress(BarColumn(20), TimeElapsedColumn(), TextColumn("{task.fields[left]}"))
        task = bar.add_task("", total=1.0, left=f"until {_limits(options)}")
        best, ended = (Text(text, no_wrap=True, overflow="ellipsis") for text in ("", "compiling the first candidates"))
        by_status: Counter[Status] = Counter()

        def show(progress: Any) -> None:
            by_status[progress.trial.status] += 1
            share, left = _left(progress, options)
            bar.update(task, completed=share, left=f"{progress.done} trials, {left}")
            best.plain = _best(problem, peaks, progress.best)
            counts = ", ".join(f"{count} {status}" for status, count in by_status.most_common())
            ended.plain = f"{counts}; {progress.under_way} are compiled or wait"

        shown = Group(Text(f"{label}{title}", no_wrap=True, overflow="ellipsis"), bar, best, ended)
        with self._turn:
            self._bars.append(shown)
            self._live.update(Group(*self._bars))
        try:
            yield show
        finally:
            with self._turn:
                self._bars.remove(shown)
                self._live.update(Group(*self._bars))

    @contextmanager
    def paused(self) -> Iterator[None]:
        with self._turn:
            self._live.stop()
            yield
            self._live.start()


class _Lines:
    """A line for each improvement of a run, and one now and then while there is none, or nothing ends."""

    def __init__(self) -> None:
        self._turn = Lock()

    @contextmanager
    def run(
        self, title: str, problem: Problem, peaks: Peaks, options: TuneOptions, label: str = ""
    ) -> Iterator[Callable[[Progress], None]]:
        best: Trial | None = None
        begun, done, failed, shown = monotonic(), 0, 0, 0.0
        over = Event()

        def show(progress: Progress) -> None:
            nonlocal best, done, failed, shown
            done = progress.done
            failed += progress.trial.status is not Status.OK
            if progress.best is best and progress.elapsed < shown + _PAUSE:
                return
            best, shown = progress.best, progress.elapsed
            counts = f"{progress.done}/{progress.budget}  {progress.elapsed:.0f} s  {failed} failed"
            self._print(f"{label}{counts}  {_best(problem, peaks, best)}")

        def show_waiting() -> None:
            """Nothing may end for long: compilers are slow where others use the machine."""
            nonlocal shown
            while not over.wait(_PAUSE):
                if (elapsed := monotonic() - begun) >= shown + _PAUSE:
                    shown = elapsed
                    self._print(f"{label}{done}/{options.trials}  {elapsed:.0f} s  compiling and verifying")

        self._print(f"{label}{title}: until {_limits(options)}")
        waiting = Thread(target=show_waiting, daemon=True)
        waiting.start()
        try:
            yield show
        finally:
            over.set()
            waiting.join()

    def paused(self) -> Lock:
        return self._turn

    def _print(self, line: str) -> None:
        with self._turn:
            print(printable(line), file=sys.stderr)


def _limits(options: TuneOptions) -> str:
    """What ends a run: ``60 s or 200 trials``."""
    seconds = "" if options.seconds is None else f"{options.seconds:g} s or "
    patience = "" if options.patience is None else f", or {options.patience} without a better schedule"
    return f"{seconds}{options.trials} trial{'s' * (options.trials > 1)}{patience}"


def _left(progress: Progress, options: TuneOptions) -> tuple[float, str]:
    """The share of a run that is done, and how long the rest takes by the limit that ends it, if trials go on alike."""
    by_trials = progress.elapsed * (options.trials / progress.done - 1)
    if options.seconds is not None and (by_time := max(0.0, options.seconds - progress.elapsed)) < by_trials:
        return min(1.0, progress.elapsed / options.seconds), f"{by_time:.0f} s left of {options.seconds:g} s"
    return progress.done / options.trials, f"about {by_trials:.0f} s left for {options.trials - progress.done} more"


def _best(problem: Problem, peaks: Peaks, best: Trial | None) -> str:
    if best is None or best.seconds is None:
        return "nothing yet"
    figures = f"{rate(problem, peaks, best.seconds)}  {peak_share(problem, peaks, best.seconds):.0%} of the roofline"
    return "  ".join(filter(None, (figures, timed(best), energy(best), best.summary)))
