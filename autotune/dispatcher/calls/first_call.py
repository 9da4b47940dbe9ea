"""The best candidates of a problem, measured on the operands of its first call, if the program asks for it.

Nothing verifies what they compute, and operands are as warm as the call left them: the result is no trial of the
database. It serves this process and later ones by a rule of its own, until the problem has a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil, inf
from statistics import median
from time import monotonic
from typing import Any, Protocol

from autotune.base.log import logger
from autotune.codegen.model.problem import Problem
from autotune.dispatcher.choice.choose import Choice, choices
from autotune.dispatcher.choice.first_calls import keep
from autotune.dispatcher.choice.modelled import ranked
from autotune.dispatcher.choice.records import records
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.settings import settings
from autotune.dispatcher.targets.base import LaunchError, Target
from autotune.search_spaces.contract.operator import Operator

from .arguments import Names, Values
from .launcher import Loaded

_CANDIDATES = 3
_SECONDS = 0.05  # that launches may take, all together
_BATCH_SECONDS = 5e-4  # of a sample: events resolve half a microsecond
_MOST_LAUNCHES = 100  # of a sample
_NOISE = 1.01  # up to this ratio of times, the first choice stays


class Untuned(Protocol):
    """A plan, as far as it is asked here.

    Attributes:
        operator, problem: what it computes.
        loaded: the choice that serves.
    """

    operator: Operator[Any, Any]
    problem: Problem
    loaded: Loaded

    def load(self, choice: Choice) -> Loaded | None:
        """Another choice; None if it does not compile or load."""


@dataclass
class Contender:
    """A loaded choice with the operands of the call, and its samples: seconds of a launch."""

    loaded: Loaded
    launch: Callable[[], None]
    glance: float = inf
    samples: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """Median of the samples; without one, what the first launch took."""
        return median(self.samples) if self.samples else self.glance


def measure(plan: Untuned, where: Target, stream: int, names: Names, values: Values) -> Loaded | None:
    """The fastest of the plan's best candidates, and of the library that the program allows, for these operands.

    They are launched on the stream in turns, for at most 50 ms, and the host waits for them. Their outputs are written.

    Args:
        names, values: what a launch takes; see `Launcher`.

    Returns:
        The fastest; None if there was no time for two, so that none is known.
    """
    others = (loaded for choice in candidates(plan, where) if (loaded := plan.load(choice)))
    contenders = [_contender(loaded, stream, names, values) for loaded in (plan.loaded, *others)]
    _race(contenders, lambda launch: where.seconds(launch, stream))
    if sum(one.seconds < inf for one in contenders) < 2:
        return None
    best = min(contenders, key=lambda one: one.seconds)
    if contenders[0].seconds <= _NOISE * best.seconds:
        best = contenders[0]
    chosen = best.loaded.chosen
    measured = replace(chosen.choice, rule=Rule.FIRST_CALL, seconds=best.seconds, distance=None, loss=None)
    best.loaded.chosen = replace(chosen, choice=measured)
    best.loaded.proven = True
    times = ", ".join(f"{one.loaded.chosen.choice.origin} {one.seconds * 1e6:.1f} µs" for one in contenders)
    logger.info("%s %s measured at its first call: %s", plan.operator.name, plan.problem.key, times)
    keep(plan.operator.name, plan.problem, where.spec, measured, chosen.program, settings.never_worse_than or "")
    return best.loaded


def candidates(plan: Untuned, where: Target) -> Iterator[Choice]:
    """What to measure beside the choice that serves: other records, the model's next schedules, the library."""
    operator, problem, spec = plan.operator, plan.problem, where.spec
    known = [choice for choice in choices(operator, problem, spec, records(operator, spec)) if choice.record]
    modelled = (
        Choice(Rule.MODEL, schedule, seconds=seconds) for schedule, seconds in ranked(operator, problem, spec).items()
    )
    serving = plan.loaded.chosen.choice
    taken = {serving.schedule.shape_generic}
    for choice in (*known, *modelled):
        if len(taken) == _CANDIDATES:
            break
        if choice.schedule.shape_generic not in taken:
            taken.add(choice.schedule.shape_generic)
            yield choice
    library = settings.never_worse_than or ""
    substitute = operator.substitutes.get(library)
    if substitute and substitute.library in where.libraries:
        yield replace(serving, rule=Rule.BASELINE, baseline=library, seconds=None)


def _contender(loaded: Loaded, stream: int, names: Names, values: Values) -> Contender:
    arguments = loaded.template.arguments()
    loaded.template.filler(names)(arguments, values)
    return Contender(loaded, lambda: arguments.launch(stream))


def _race(contenders: Sequence[Contender], seconds: Callable[[Callable[[], None]], float]) -> None:
    """Sample contenders in turns until the time is up; one that is refused, or for which there is none, has no time."""
    begin = monotonic()

    def fits(expected: float) -> bool:
        return monotonic() - begin + expected <= _SECONDS

    least = 0.0  # what one that was launched took: what the model promises may be too short
    for one in contenders:
        if fits(max(least, one.loaded.chosen.choice.seconds or 0)):
            try:
                one.glance = seconds(one.launch)
            except LaunchError as error:
                logger.info("%s does not launch: %s", one.loaded.chosen.choice.origin, error)
            else:
                least = min(other.glance for other in contenders)
    running = [one for one in contenders if one.glance < inf]
    while running:
        for one in running:
            launches = max(1, min(_MOST_LAUNCHES, ceil(_BATCH_SECONDS / max(one.seconds, 1e-9))))
            if not fits(launches * one.seconds):
                return
            one.samples.append(seconds(partial(_repeat, one.launch, launches)) / launches)


def _repeat(launch: Callable[[], None], times: int) -> None:
    for _ in range(times):
        launch()
