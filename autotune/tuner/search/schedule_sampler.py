"""The search of `bayes` as a sampler of Optuna."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from threading import Lock
from typing import Any

from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.modelled_time import likely_first
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.trial_space import TrialSpace
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .bayes import BayesSearch, bayes_search


class SpaceSampler(BaseSampler):
    """Proposes legal draws of a space, none twice: some that are given, then those of Bayesian optimisation.

    It remembers through the trials of the study alone. A trial that runs or waits counts with the time that is expected
    of it. A trial that failed, violates a constraint or has an infinite value counts as slow as the slowest. When every
    draw that it knows of was tried, it draws at random.

    Args:
        space: the distributions of a trial, and what its parameters build.
        new_search: a search of that space which knows nothing yet.
        first: what to propose first.
        seed: where random numbers start.
    """

    def __init__(
        self, space: TrialSpace, new_search: Callable[[], BayesSearch[Any]], first: Sequence[Any] = (), seed: int = 0
    ) -> None:
        self._space, self._new_search, self._first = space, new_search, first
        self._random = RandomSampler(seed)
        self._lock = Lock()  # a study may have several threads
        self._study = ""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """All parameters."""
        return self._space.distributions

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The parameters of a new schedule.

        Raises:
            ValueError: the study does not minimise one value.
        """
        with self._lock:
            search = self._learnt(study)
            schedule = next((one for one in self._first if one not in search), None) or search.propose()
            if not schedule:
                return {}
            search.wait_for(schedule)
            self._open[trial.number] = schedule
            return dict(search.draw_of(schedule))

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """At random: a parameter that is not one of the space, or of a space that has been tried."""
        return self._random.sample_independent(study, trial, param_name, param_distribution)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Learn of the trials before this one, which may be gone when a schedule is asked for."""
        with self._lock:
            self._learnt(study)

    def reseed_rng(self) -> None:
        """Other threads draw other numbers."""
        self._random.reseed_rng()

    def _learnt(self, study: Study) -> BayesSearch[Any]:
        """The search, told of all that has become of the study's trials."""
        if study.study_name != self._study:
            if study.directions != [StudyDirection.MINIMIZE]:
                raise ValueError(
                    f"a {type(self).__name__} minimises one value: expected create_study(direction='minimize')"
                )
            self._study = study.study_name
            self._open: dict[int, Any] = {}  # trials that are not over, with what they build if it is known
            self._seen = 0
            self._search = self._new_search()
        trials = study.get_trials(deepcopy=False)
        for number in [*self._open, *range(self._seen, len(trials))]:
            self._learn(trials[number])
        self._seen = len(trials)
        return self._search

    def _learn(self, trial: FrozenTrial) -> None:
        known = self._open.pop(trial.number, None)
        over = trial.state.is_finished()
        if not over and (known or self._space.distributions.keys() > trial.params.keys()):
            self._open[trial.number] = known
            return
        if known and trial.params == self._search.draw_of(known):
            schedule: Any = known
        else:
            whole = self._space.distributions.keys() <= trial.params.keys()
            schedule = self._space.schedule_of(trial.params) if whole else None
        if known and schedule != known:  # other parameters were given
            self._search.give_up(known)
        if schedule and over:
            self._search.tell(schedule, _seconds(trial))
        elif schedule:
            self._search.wait_for(schedule)
            self._open[trial.number] = schedule


class ScheduleSampler(SpaceSampler):
    """Proposes legal schedules of a problem.

    Args:
        operator, problem, spec: what the schedules are for; a `TrialSpace` of ``operator.space(problem, spec)`` has the
            distributions of a trial.
        first: legal schedules to propose first, as far as they are in the space; by default the operator's seeds, as
            `likely_first` has them.
        seed: where random numbers start.
    """

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        spec: DeviceSpec,
        first: Sequence[Schedule] | None = None,
        seed: int = 0,
    ) -> None:
        space = operator.space(problem, spec)
        if first is None:
            first = likely_first(operator, problem, operator.seeds(problem, spec), spec)
        inside = [schedule for schedule in first if schedule in space]
        super().__init__(TrialSpace(space), partial(bayes_search, operator, problem, spec, seed), inside, seed)


def _seconds(trial: FrozenTrial) -> float | None:
    """A trial's value; None if it has none that counts."""
    feasible = all(violation <= 0 for violation in trial.constraints.values())
    return trial.values[0] if feasible and trial.values and 0 < trial.values[0] < inf else None
