"""A tuning run while it runs, on stderr: live in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..db.states import Status
from .figures import duration, rate
from .trials import schedule_words

if TYPE_CHECKING:
    from ..codegen.problem import Problem
    from ..db import Trial
    from ..tuner import Progress

_PAUSE = 10  # seconds between lines while nothing better is found


@contextmanager
def shown_progress(title: str, problem: Problem, trials: int) -> Iterator[Callable[[Progress], None]]:
    """What `tune` calls after each evaluation, while the display stands."""
    if sys.stderr.isatty():
        with _live(title, problem, trials) as show:
            yield show
    else:
        print(f"{title}: up to {trials} trials", file=sys.stderr)
        yield _Lines(problem)


@contextmanager
def _live(title: str, problem: Problem, trials: int) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, TextColumn("{task.fields[failed]} failed"))
    task = bar.add_task(title, total=trials, failed=0)
    best = Text("compiling", no_wrap=True, overflow="ellipsis")
    failed = 0

    def show(progress: Any) -> None:
        nonlocal failed
        failed += progress.trial.status is not Status.OK
        bar.update(task, completed=progress.done, failed=failed)
        best.plain = _best(problem, progress.best)

    with Live(Group(bar, best), console=Console(stderr=True), transient=True):
        yield show


class _Lines:
    """A line for each improvement, and one now and then while there is none."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._best: Trial | None = None
        self._failed = 0
        self._shown = 0.0

    def __call__(self, progress: Progress) -> None:
        self._failed += progress.trial.status is not Status.OK
        if progress.best is self._best and progress.elapsed < self._shown + _PAUSE:
            return
        self._best, self._shown = progress.best, progress.elapsed
        counts = f"{progress.done}/{progress.budget}  {progress.elapsed:.0f} s  {self._failed} failed"
        print(f"{counts}  {_best(self._problem, self._best)}", file=sys.stderr)


def _best(problem: Problem, best: Trial | None) -> str:
    if best is None or best.seconds is None:
        return "nothing yet"
    return f"{rate(problem, best.seconds)}  {duration(best.seconds)} {best.time_source}  {schedule_words(best)}"
