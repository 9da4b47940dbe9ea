"""The searches of ``autotune tune``, one for each problem and device, and how a terminal shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .rendering.winner import Tuned, print_winner, title, tuned
from .tune_problems import statements_of

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.compile_pool import CompilePool
    from autotune.db import TuningDB
    from autotune.devices.base import Device
    from autotune.runs.run import Run
    from autotune.tuner import Progress, TuneOptions, TuneResult

    from .rendering.progress import Screen


@dataclass
class Searches:
    """What all searches of a command share.

    Attributes:
        operator: whose problems are tuned.
        database, options, pool, run: see `autotune.tuner.tune`.
        screen: where they are shown while they run.
        named: whether their device is named, since there are several.
        quiet: whether winners are not printed.
        results: what they found so far.
    """

    operator: Any
    database: TuningDB
    options: TuneOptions
    pool: CompilePool
    run: Run
    screen: Screen
    named: bool
    quiet: bool
    results: list[Tuned] = field(default_factory=list)

    def tune(
        self, device: Device, problem: Problem, following: Problem | None, check: Callable[[], None]
    ) -> TuneResult:
        """Tune a problem, and then as whatever else may serve it, unless the command restricts schedules to some.

        Args:
            device: where.
            problem: which.
            following: the problem that is tuned there afterwards, for which the pool begins to compile.
            check: is called after each evaluation.

        Returns:
            The last result.
        """
        own, *others = statements_of(self.operator, problem, device)
        if (self.options.only, self.options.exclude) != (None, None):
            others = []
        after = [*others, (self.operator, following) if following else None]
        for (by, stated), then in zip([own, *others], after, strict=True):
            result = self._search(by, device, stated, then, check)
            if result.interrupted:
                break
        return result

    def _search(
        self,
        operator: Any,
        device: Device,
        problem: Problem,
        following: tuple[Any, Problem] | None,
        check: Callable[[], None],
    ) -> TuneResult:
        from autotune.tuner import tune

        peaks = self.database.peaks(device.spec)
        label = f"{device.selector}: " if self.named else ""
        with self.screen.run(title(operator, problem, device), problem, peaks, self.options, label) as show:

            def told(progress: Progress) -> None:
                show(progress)
                check()

            result = tune(
                operator,
                problem,
                device,
                self.database,
                self.options,
                told,
                pool=self.pool,
                run=self.run,
                following=following,
            )
        with self.screen.paused():
            self.results.append(tuned(operator, problem, device, peaks, result))
            if not self.quiet:
                print_winner(self.results[-1])
        return result
