"""Which schedule to try next: what is known to be good first, then what a sampler draws."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..db.trials import Trial
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator
from ..search_spaces.space import Draw
from .forecast import Forecast, forecast
from .samplers import BAYES
from .study import Outcome, Study

# Draws in a row that bring nothing new before one is made past the sampler, uniformly: while there are new schedules
# to find, that happens seldom and does no harm (of draws that are half legal, ten illegal ones follow each other once
# in a thousand times).
_PATIENCE = 10
_SWEEP = 10_000


@dataclass(frozen=True)
class Candidate:
    """A legal schedule that was not tried before.

    Attributes:
        schedule: the schedule.
        asked: the draw that it comes from; None for a schedule outside of the search space.
    """

    schedule: Schedule
    asked: Any


class Asking(Protocol):
    """What `Study` and `BayesStudy` have in common. Each knows its own answers again; they have a `draw`."""

    def prepare(self) -> Any: ...  # noqa: D102
    def ask(self) -> Any: ...  # noqa: D102
    def ask_for(self, draw: Draw) -> Any: ...  # noqa: D102
    def tell(self, asked: Any, outcome: Outcome) -> None: ...  # noqa: D102
    def reject(self, asked: Any, violations: int) -> None: ...  # noqa: D102
    def ignore(self, asked: Any) -> None: ...  # noqa: D102
    def add(self, draw: Draw, outcome: Outcome) -> None: ...  # noqa: D102


class Proposals(Iterator[Candidate]):
    """Proposes each schedule once at most; the iteration ends when no legal one is left, or none can be found.

    A draw that is illegal or was tried before never comes out: the sampler is told so at once.

    Args:
        operator, problem, spec: what the schedules are for.
        sampler, seed: a name in `SAMPLERS`, and where its random numbers start.
        first: legal schedules to propose before all others, best guess first.
        known: what was tried before.

    Attributes:
        illegal: draws rejected so far.
        exhausted: whether the iteration has ended.
    """

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        spec: DeviceSpec,
        sampler: str,
        seed: int,
        first: Iterable[Schedule],
        known: Mapping[Schedule, Outcome],
    ) -> None:
        self.illegal = 0
        self.exhausted = False
        self._operator, self._problem, self._limits = operator, problem, spec
        self._space = operator.space(problem, spec)
        self._first = iter(first)
        # Every draw of a small space, one by one; random ones of a large space, without end.
        self._sweep = self._space.all_draws() if self._space.size <= _SWEEP else self._space.random_draws(seed)
        # None stands for a schedule that is being tried.
        self._tried: dict[Schedule, Outcome | None] = {}
        # A run that goes on from others must not repeat their random numbers.
        self._study = self._new_study(sampler, seed + len(known))
        for schedule, outcome in known.items():
            self._tried[schedule] = outcome
            if schedule in self._space:
                self._study.add(self._space.draw_of(schedule), outcome)

    def _new_study(self, sampler: str, seed: int) -> Asking:
        if sampler != BAYES:
            return Study(self._space.parameters, sampler, seed)
        from .bayes import BayesStudy

        return BayesStudy(self._space, lambda schedule: not self._violations(schedule), self._forecast, seed)

    def prepare(self) -> None:
        """Do what takes long before the first proposal of the sampler, while nothing waits for that yet."""
        self._study.prepare()

    def __next__(self) -> Candidate:
        """The next schedule to try; whatever became of it goes to `tell`."""
        candidate = self._from_first() or self._from_sampler() or self._from_sweep()
        if candidate is None:
            self.exhausted = True
            raise StopIteration
        self._tried[candidate.schedule] = None
        return candidate

    def __contains__(self, schedule: object) -> bool:
        return schedule in self._tried

    def outcome(self, schedule: Schedule) -> Outcome | None:
        """What became of a schedule, if that is known."""
        return self._tried.get(schedule)

    def given(self, schedule: Schedule) -> Candidate:
        """A legal schedule that was not tried before, in the place of the next one."""
        inside = schedule in self._space
        asked = self._study.ask_for(self._space.draw_of(schedule)) if inside else None
        self._tried[schedule] = None
        return Candidate(schedule, asked)

    def tell(self, candidate: Candidate, trial: Trial | Outcome) -> None:
        """What became of a candidate."""
        self._tried[candidate.schedule] = outcome = Outcome.of(trial)
        if candidate.asked:
            self._study.tell(candidate.asked, outcome)

    def _from_first(self) -> Candidate | None:
        for schedule in self._first:
            if schedule not in self._tried:
                return self.given(schedule)
        return None

    def _from_sampler(self) -> Candidate | None:
        for _ in range(_PATIENCE):
            asked = self._study.ask()
            schedule = self._space.build(asked.draw)
            if violations := self._violations(schedule):
                self.illegal += 1
                self._study.reject(asked, len(violations))
            elif schedule not in self._tried:
                return Candidate(schedule, asked)
            elif outcome := self._tried[schedule]:
                self._study.tell(asked, outcome)
            else:
                self._study.ignore(asked)
        return None

    def _from_sweep(self) -> Candidate | None:
        for draw in islice(self._sweep, _SWEEP):
            schedule = self._space.build(draw)
            if schedule not in self._tried and not self._violations(schedule):
                return Candidate(schedule, self._study.ask_for(draw))
        return None

    def _forecast(self, schedule: Schedule) -> Forecast:
        return forecast(self._operator, self._problem, schedule, self._limits)

    def _violations(self, schedule: Schedule) -> list[str]:
        return self._operator.violations(self._problem, schedule, self._limits)
