"""Tuning runs while they run, on stderr: live in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from ...db.states import Status
from ..printable import printable
from .rates import duration, rate
from .trials import short_schedule_of

if TYPE_CHECKING:
    from rich.live import Live

    from ...codegen.problem import Problem
    from ...db import Trial
    from ...search_spaces.device_spec import DeviceSpec
    from ...tuner import Progress

_PAUSE = 10  # seconds between lines while nothing better is found


class Screen(Protocol):
    """Where runs are shown, from any thread."""

    def run(
        self, title: str, problem: Problem, spec: DeviceSpec, trials: int, label: str = ""
    ) -> AbstractContextManager[Callable[[Progress], None]]:
        """What `tune` calls after each evaluation, while the run is shown; `label` tells it from others."""

    def paused(self) -> AbstractContextManager[object]:
        """While results are printed, which one thread does at a time."""


@contextmanager
def shown_progress() -> Iterator[Screen]:
    """The terminal that stderr is, or lines."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(stderr=True), transient=True, redirect_stdout=False) as live:
        yield _Terminal(live)


class _Terminal:
    """A bar for each run that goes on, and below it the best so far."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._bars: list[Any] = []
        self._turn = Lock()

    @contextmanager
    def run(
        self, title: str, problem: Problem, spec: DeviceSpec, trials: int, label: str = ""
    ) -> Iterator[Callable[[Progress], None]]:
        from rich.console import Group
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
        from rich.text import Text

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        bar = Progress(*columns, TimeElapsedColumn(), TextColumn("{task.fields[failed]} failed"))
        task = bar.add_task(f"{label}{title}", total=trials, failed=0)
        best = Text("compiling", no_wrap=True, overflow="ellipsis")
        failed = 0

        def show(progress: Any) -> None:
            nonlocal failed
            failed += progress.trial.status is not Status.OK
            bar.update(task, completed=progress.done, failed=failed)
            best.plain = _best(problem, spec, progress.best)

        shown = Group(bar, best)
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
    """A line for each improvement of a run, and one now and then while there is none."""

    def __init__(self) -> None:
        self._turn = Lock()

    @contextmanager
    def run(
        self, title: str, problem: Problem, spec: DeviceSpec, trials: int, label: str = ""
    ) -> Iterator[Callable[[Progress], None]]:
        best: Trial | None = None
        failed, shown = 0, 0.0

        def show(progress: Progress) -> None:
            nonlocal best, failed, shown
            failed += progress.trial.status is not Status.OK
            if progress.best is best and progress.elapsed < shown + _PAUSE:
                return
            best, shown = progress.best, progress.elapsed
            counts = f"{progress.done}/{progress.budget}  {progress.elapsed:.0f} s  {failed} failed"
            self._print(f"{label}{counts}  {_best(problem, spec, best)}")

        self._print(f"{label}{title}: up to {trials} trials")
        yield show

    def paused(self) -> Lock:
        return self._turn

    def _print(self, line: str) -> None:
        with self._turn:
            print(printable(line), file=sys.stderr)


def _best(problem: Problem, spec: DeviceSpec, best: Trial | None) -> str:
    if best is None or best.seconds is None:
        return "nothing yet"
    return (
        f"{rate(problem, spec, best.seconds)}  {duration(best.seconds)} {best.time_source}  {short_schedule_of(best)}"
    )
