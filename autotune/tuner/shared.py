"""Proposals of one problem that tuners on several hosts share, so that each schedule is tried by one of them only."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from optuna.trial import FrozenTrial, TrialState

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..db.trials import Trial
from ..devices.base import Device
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator
from .proposals import Candidate, Proposals
from .provenance import depends_on
from .shared_study import SharedStudy, outcome_of
from .study import Outcome


def study_name(study: str, operator: Operator[Any, Any], problem: Problem, device: Device) -> str:
    """The study's name in the database; tuners that differ in what a time depends on have different ones."""
    default = operator.default(problem, device.limits)
    program = operator.program(problem, default, device.limits).digest
    facts = hashlib.sha256(json.dumps([depends_on(device), program], sort_keys=True).encode()).hexdigest()[:8]
    return f"{study}: {operator.name} {problem.key} on {device.limits.name}, {device.time_source}, {facts}"


class SharedProposals(Iterator[Candidate]):
    """Candidates that wait in a study, or else this tuner's own proposals, which others learn of by it.

    This tuner's sampler sees what others try as if it had asked for it.

    Args:
        own: this tuner's proposals.
        study: what is shared.
        operator, problem, spec: as `own` was made for; what the study holds is checked by them.
    """

    def __init__(
        self, own: Proposals, study: SharedStudy, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec
    ) -> None:
        self._own, self._study = own, study
        self._operator, self._problem, self._limits = operator, problem, spec
        self._first: dict[Schedule, int] = {}  # a schedule's trial; later ones of it are superfluous
        self._pending: dict[Schedule, Candidate] = {}  # known to `own`, and not told yet
        self._waiting: OrderedDict[Schedule, FrozenTrial] = OrderedDict()
        self._taken: dict[Schedule, FrozenTrial] = {}
        self._look()

    def __next__(self) -> Candidate:
        """A candidate that no other tuner has."""
        while True:
            # One look for each candidate, which takes as long as all else about the study.
            offered = None if self._waiting else next(self._own, None)
            if offered:
                self._pending[offered.schedule] = offered
                self._study.offer(offered.schedule.to_dict())
            self._look()
            while self._waiting:
                if candidate := self._take(*self._waiting.popitem(last=False)):
                    return candidate
            if not offered and self._own.exhausted:
                raise StopIteration

    def _take(self, schedule: Schedule, trial: FrozenTrial) -> Candidate | None:
        """The candidate, unless a tuner has it: even this one, if it was suspended and counted as dead."""
        under_way = schedule in self._taken
        if not self._study.take(trial):
            return None
        if outcome := self._own.outcome(schedule):  # a tuner died after it had stored the trial
            self._study.tell(trial, outcome)
            return None
        self._taken[schedule] = trial
        return None if under_way else self._pending.pop(schedule, Candidate(schedule, None))

    def tell(self, candidate: Candidate, trial: Trial) -> None:
        """What became of a candidate, for this sampler and all others."""
        self._own.tell(candidate, trial)
        self._study.tell(self._taken.pop(candidate.schedule), Outcome.of(trial))

    def prepare(self) -> None:
        """What the own proposals may do before they are asked again."""
        self._own.prepare()

    def _look(self) -> None:
        """Learn what has become of the study's trials, and which of them wait."""
        self._waiting.clear()
        for trial in self._study.news():
            if schedule := self._schedule_of(trial):
                self._learn(schedule, trial)

    def _learn(self, schedule: Schedule, trial: FrozenTrial) -> None:
        """Tell the sampler of a trial, or note that it waits."""
        if schedule not in self._own:
            self._pending[schedule] = self._own.given(schedule)
        if trial.state is TrialState.FAIL:  # its tuner died: the next one of this schedule counts
            if self._first.get(schedule) == trial.number:
                del self._first[schedule]
        elif self._first.setdefault(schedule, trial.number) != trial.number:
            self._study.cancel(trial)
        elif trial.state is TrialState.WAITING:
            self._waiting[schedule] = trial
        elif trial.state is TrialState.COMPLETE and schedule in self._pending:
            with suppress(ValueError):  # another version's
                self._own.tell(self._pending.pop(schedule), outcome_of(trial))

    def _schedule_of(self, trial: FrozenTrial) -> Schedule | None:
        """A trial's schedule; None if it has none, or one that is not legal here."""
        fields = trial.user_attrs.get("schedule")
        with suppress(ValueError):
            if isinstance(fields, dict):
                schedule: Schedule = self._operator.schedule_type.from_dict(fields)
                if not self._operator.violations(self._problem, schedule, self._limits):
                    return schedule
        return None
