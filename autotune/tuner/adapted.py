"""What came of adapting to a device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.db.trials import Trial
from autotune.search_spaces.contract.operator import Operator

from .known_problems import Wanted


@dataclass(frozen=True)
class Adapted:
    """What came of a problem.

    Attributes:
        operator, problem: which one.
        before: the trial of the schedule that served it, if that could be measured.
        best: the fastest trial; None if none is ok.
        tried: how many schedules were measured.
        failed: how many of them have no valid time.
    """

    operator: Operator[Any, Any]
    problem: Problem
    before: Trial | None
    best: Trial | None
    tried: int
    failed: int

    @property
    def gain(self) -> float | None:
        """The time before over the time after; None where one of them is not known."""
        if self.before is None or self.best is None or not self.before.seconds or not self.best.seconds:
            return None
        return self.before.seconds / self.best.seconds


@dataclass
class AdaptResult:
    """What a run brought.

    Attributes:
        adapted: what came of each problem that was measured.
        skipped: why problems could not be measured.
        known: the problems that had trials of all that was to be measured.
        wanted: how many problems there were.
        seconds: how long it took.
        interrupted: whether Ctrl-C or SIGTERM ended it.
    """

    adapted: dict[Wanted, Adapted] = field(default_factory=dict)
    skipped: dict[Wanted, str] = field(default_factory=dict)
    known: set[Wanted] = field(default_factory=set)
    wanted: int = 0
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def left(self) -> int:
        """Problems that the time did not suffice for."""
        return self.wanted - len(self.known | self.adapted.keys() | self.skipped.keys())
