"""Proposals of one problem that runs share by its study, so that each schedule is tried by one of them only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf

from optuna.storages import RetryHeartbeatStaleTrialCallback
from optuna.trial import FrozenTrial, TrialState

from autotune.codegen.model.schedule import Schedule
from autotune.db.journal import TUNER
from autotune.db.trials import Trial
from autotune.runs.history import seconds_of
from autotune.tuner.search.proposals import Candidate, Proposals

from .stored_study import StoredStudy


class SharedProposals(Iterator[Candidate]):
    """Candidates that wait in a study, or else this run's own proposals, which others learn of by it.

    This run's sampler sees what others try as if it had asked for it.

    Args:
        own: this run's proposals.
        study: what is shared.
        stored: the schedules that the database knows by now, with their seconds.

    Attributes:
        others: how many trials of other runs this one has learnt of.
        prepare: what the own proposals may do before they are asked again.
    """

    def __init__(self, own: Proposals, study: StoredStudy, stored: Callable[[], Mapping[Schedule, float]]) -> None:
        self.others = 0
        self.prepare = own.prepare
        self._own, self._study, self._stored = own, study, stored
        self._elsewhere: dict[Schedule, Candidate] = {}  # which other runs try, in trials that are known
        self._known: set[int] = set()
        self._here: dict[Schedule, tuple[Candidate, int]] = {}  # which this one has taken, and their trials

    def __next__(self) -> Candidate:
        """A candidate that no other run has."""
        with self._study.exclusive():  # so that no other run proposes the same
            for trial in self._look():
                if candidate := self._take(trial):
                    return candidate
            return self._offered(next(self._own))

    def claim(self, schedule: Schedule) -> Candidate | None:
        """A legal schedule in the place of the next candidate, or the candidate that this run took and gave up.

        None if it was tried, or another run has it.
        """
        with self._study.exclusive():
            self._look()
            if schedule in self._here:
                return self._here[schedule][0]
            return None if schedule in self._own else self._offered(self._own.given(schedule))

    def tell(self, candidate: Candidate, trial: Trial) -> None:
        """What became of a candidate, for this sampler and all others."""
        seconds = seconds_of(trial)
        self._own.tell(candidate, seconds)
        attributes = {"status": trial.status, "time_source": trial.time_source, **trial.resources}
        told = {"error": trial.error, "stopped_early": trial.conditions.get("stopped_early")}
        attributes |= {name: value for name, value in told.items() if value}
        _, number = self._here.pop(candidate.schedule)
        self._study.tell(number, seconds, bool(candidate.asked), **attributes)

    def _look(self) -> list[FrozenTrial]:
        """Learn what has become of the study's trials; those that wait."""
        waiting = []
        for trial in self._study.news():
            if trial.state is TrialState.WAITING:
                waiting.append(trial)
            elif trial.state is not TrialState.RUNNING or trial._trial_id not in self._known:
                self._learn(trial)
        return waiting

    def _learn(self, trial: FrozenTrial) -> None:
        self._known.add(trial._trial_id)
        own = trial.user_attrs.get(TUNER) == self._study.tuner
        schedule = None if own or trial.state is TrialState.FAIL else self._study.schedule_of(trial)
        if schedule and schedule not in self._own:
            self.others += 1
            self._elsewhere[schedule] = self._own.given(schedule)
        if schedule in self._elsewhere and trial.state.is_finished():
            self._own.tell(self._elsewhere.pop(schedule), trial.values[0] if trial.values else inf)

    def _take(self, trial: FrozenTrial) -> Candidate | None:
        """The candidate of a trial that waits, unless the database has it: its run was over before it said so."""
        schedule = self._study.schedule_of(trial)
        if not schedule or schedule in self._here or not self._study.take(trial._trial_id):
            return None
        if seconds := self._own.seconds(schedule):
            self._study.tell(trial._trial_id, seconds, bool(trial.params))
            return None
        candidate = self._elsewhere.pop(schedule, None) or self._own.given(schedule)
        died = RetryHeartbeatStaleTrialCallback.retried_trial_number(trial) is not None
        if died and (seconds := self._stored().get(schedule)):  # who died had stored it after this run began
            self._own.tell(candidate, seconds)
            self._study.tell(trial._trial_id, seconds, bool(trial.params))
            return None
        self._here[schedule] = candidate, trial._trial_id
        return candidate

    def _offered(self, candidate: Candidate) -> Candidate:
        params = candidate.asked.params if candidate.asked else None
        self._here[candidate.schedule] = candidate, self._study.start(candidate.schedule, params)
        return candidate
