"""Results of earlier runs: trials to continue from, and winners to try first."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from math import inf, log2
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import compiler_version
from autotune.db.freshness import changed, judge, misjudged
from autotune.db.states import Objective, Status
from autotune.db.trials import Trial, Tried
from autotune.devices.base import Device
from autotune.search_spaces.contract.modelled_time import likely_first
from autotune.search_spaces.contract.operator import Operator

from .provenance import changed_environment, in_study, study_name

if TYPE_CHECKING:
    from autotune.db import TuningDB

_WINNERS = 5
_OWN = 3
_LOOKED_AT = 100  # best trials that are looked at, which need the samples, too


class History:
    """What the database knows of a problem on a device.

    Args:
        operator, problem, device: what is asked for.
        db: the database.
        objective: what is minimised.
    """

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        device: Device,
        db: TuningDB,
        objective: Objective = Objective.TIME,
    ) -> None:
        self._operator, self._problem, self._device, self._db = operator, problem, device, db
        self._objective = objective
        self._asked = operator.name, problem.key, device.spec.name, compiler_version(), device.time_source

    def tried(self) -> dict[Schedule, float]:
        """What need not be tried again, with what a sampler is told of it, oldest first.

        It is of the same device model and kind of time, legal and not stale. What ended in the study of today's
        generator emits no other program, so only the others' programs are emitted to tell. Of those that somebody
        changed by hand, what is no schedule is left out with a warning.
        """
        costs = self._energies() if self._objective is Objective.ENERGY else self._seconds()
        known: dict[Schedule, float] = {}
        unreadable: list[ValueError] = []
        for trial, cost in costs:
            if not self.stale(trial):
                try:
                    known[self._operator.schedule(trial.schedule)] = cost
                except ValueError as error:
                    unreadable.append(error)
        if unreadable:
            what = f"{self._db.location}: {len(unreadable)} trials of {self._operator.name} {self._problem.key}"
            text = f"{what} hold no schedule and are left out: {unreadable[0]}; autotune db prune lists what can go"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        return known

    def _seconds(self) -> Iterator[tuple[Tried, float]]:
        return ((trial, seconds_of(trial)) for trial in self._db.tried(*self._asked))

    def _energies(self) -> list[tuple[Trial, float]]:
        """The trials whose energy is known, and failed ones; others have to be tried again."""
        operator, key, model, compiler, source = self._asked
        trials = self._db.trials(operator, key, model)[::-1]
        alike = [one for one in trials if (one.compiler, one.time_source) == (compiler, source)]
        return [(one, one.cost(Objective.ENERGY)) for one in alike if one.joules or not one.ok]

    def ranked(self) -> list[Trial]:
        """The trials that the database puts first, best first."""
        return self._db.ranked(*self._asked, _LOOKED_AT)

    def best(self, known: Container[str]) -> Trial | None:
        """The best trial of the known schedules, by digest; None if none is ok."""
        if self._objective is Objective.ENERGY:
            told = [trial for trial, cost in self._energies() if cost < inf and trial.schedule_digest in known]
            return min(told, key=lambda trial: trial.joules or inf, default=None)
        return next((one for one in self.ranked() if one.schedule_digest in known), None)

    def stale(self, trial: Trial | Tried) -> bool:
        """Whether a trial's time, or the verdict on its outputs, may no longer hold."""
        return misjudged(trial, lambda: self._judge) or self._changed(trial)

    def to_judge(self, trial: Trial) -> bool:
        """Whether a trial is stale only since something else than today's reference and tolerances found it wrong."""
        return misjudged(trial, lambda: self._judge) and not self._changed(trial)

    def _changed(self, trial: Trial | Tried) -> bool:
        if isinstance(trial, Tried) and in_study(trial, self._study, self._operator):
            return False
        return self.superseded(trial) or bool(changed_environment(trial, self._device))

    @cached_property
    def _study(self) -> str:
        return study_name(self._operator, self._problem, self._device, objective=self._objective)

    @cached_property
    def _judge(self) -> str:
        return judge(self._operator, self._problem)

    def superseded(self, trial: Trial | Tried) -> bool:
        """Whether a trial's schedule emits another program today, or none."""
        spec = self._device.spec
        return bool(changed(self._operator, self._problem, spec, trial.schedule, trial.program_digest))

    def first_candidates(self) -> list[Schedule]:
        """What a run tries first: the few fastest of this problem, then near winners and the seeds, see `likely_first`.

        Their order decides where the budget is few trials: what wins a small problem may be 25 times as slow as a seed
        on a large one.
        """
        operator, problem, spec = self._operator, self._problem, self._device.spec
        likely = likely_first(operator, problem, [*self._near_winners(), *operator.seeds(problem, spec)], spec)
        return list(dict.fromkeys([*self._own_winners(), *likely]))

    def _near_winners(self) -> list[Schedule]:
        """The fastest schedules of the nearest problems that are legal for this one, by whatever kind of time.

        Of kin, other models of the device's architecture, this problem is among them.
        """
        others: list[tuple[float, Mapping[str, Any]]] = []
        for fields, schedule in self._winners():
            with suppress(ValueError):  # made by a version whose problems or schedules had other fields
                others.append((_distance(self._problem, self._operator.problem_type.from_dict(fields)), schedule))
        others.sort(key=itemgetter(0))
        near: dict[Schedule, None] = {}
        for _, values in others:
            with suppress(ValueError):  # as above
                schedule = self._operator.schedule(values)
                if not self._operator.violations(self._problem, schedule, self._device.spec):
                    near[schedule] = None
            if len(near) == _WINNERS:
                break
        return list(near)

    def _winners(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """`TuningDB.winners` of this device model, then those of the others of its architecture."""
        name, spec = self._operator.name, self._device.spec
        for model in (spec.name, *(kin.model for kin in self._db.kin(name, spec))):
            yield from self._db.winners(name, model, compiler_version())

    def _own_winners(self) -> Iterator[Schedule]:
        """The fastest schedules of the problem, and the fastest that serves other problems, by whatever compiler."""
        trials = self.ranked()
        generic = [trial for trial in trials if trial.schedule.get("specialize") != "shape"]
        for trial in [*trials[:1], *generic[:1], *trials[1:_OWN]]:
            with suppress(ValueError):  # as above
                schedule = self._operator.schedule(trial.schedule)
                if not self._operator.violations(self._problem, schedule, self._device.spec):
                    yield schedule


def seconds_of(trial: Trial | Tried) -> float:
    """What a sampler is told of a trial; infinite for one that failed."""
    return inf if trial.seconds is None or trial.status is not Status.OK else trial.seconds


def stale_problems(operator: Operator[Any, Any], device: Device, db: TuningDB) -> list[Problem]:
    """The problems whose best trial on this device model is stale, then those with a wrong trial `to_judge`.

    Only trials of the kind of time that the device gives are looked at.
    """
    model = device.spec.name
    wrong = db.trials(operator.name, device=model, status=Status.WRONG)
    problems = []
    for trial in [*db.bests(operator.name, model, compiler_version()), *wrong]:
        if trial.time_source is not device.time_source:
            continue
        with suppress(ValueError):  # as above
            problem = operator.problem_type.from_dict(trial.problem.fields)
            history = History(operator, problem, device, db)
            if history.stale(trial) if trial.ok else history.to_judge(trial):
                problems.append(problem)
    return list(dict.fromkeys(problems))


def _distance(problem: Problem, other: Problem) -> float:
    """Octaves between the sizes of two problems, plus one for each flag or enum in which they differ."""
    others = other.to_dict()
    pairs = [(value, others[name]) for name, value in problem.to_dict().items()]
    return sum(abs(log2((1 + a) / (1 + b))) if isinstance(a, int) else float(a != b) for a, b in pairs)
