"""The search of a run on one problem: propose, compile ahead, evaluate, store, tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.listing import listing
from autotune.compile_pool import CompilePool
from autotune.db.states import Objective, Status, TimeSource
from autotune.db.trials import Trial
from autotune.devices.base import Device, DeviceError, Session
from autotune.runs.failure_report import FailureReport
from autotune.runs.history import History
from autotune.search_spaces.contract.asked import asked_for
from autotune.search_spaces.contract.operator import Operator

from .ahead import MOST_AHEAD, Ahead, compile_first
from .evaluator import Evaluator, Job
from .options import Progress, TuneOptions, TuneResult
from .runoff import Runoff, leaders, losers, participants, run_off
from .search.proposals import Proposals

if TYPE_CHECKING:
    from autotune.db import TuningDB
    from autotune.db.stored_study import StoredStudy

# Seconds. So short a run hardly comes to what the sampler proposes, and who computes keeps the device's thread waiting.
_SHORT = 2.0


class ProblemSearch:
    """Looks for the fastest schedule of a problem, and knows at any time what it has found.

    Args:
        operator, problem, device, db, options: as of `tune`.
        pool: compiles.
        study: what tuners share.
        run: the id of the run.
        elapsed: the seconds since the run began.
    """

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        device: Device,
        db: TuningDB,
        options: TuneOptions,
        pool: CompilePool,
        study: StoredStudy,
        run: str,
        elapsed: Callable[[], float],
    ) -> None:
        self._operator, self._problem, self._device, self._spec = operator, problem, device, device.spec
        self._db, self._options, self._pool, self._elapsed = db, options, pool, elapsed
        self._history = History(operator, problem, device, db, options.objective)
        self._asked = asked_for(operator, options.only or (), options.exclude or ())
        self._known = {one: seconds for one, seconds in self._history.tried().items() if self._is_asked(one)}
        first = [one for one in self._history.first_candidates() if self._is_asked(one)]
        self._compared = {schedule.digest for schedule in self._known}
        self._best = self._incumbent = self._history.best(self._compared)
        sampler, seed, self._study = options.sampler, options.seed, study
        self._proposals = Proposals(self._asked, problem, self._spec, sampler, seed, first, self._known, study)
        self._evaluator = Evaluator(operator, problem, device, pool, run)
        self._depth = min(2 * pool.processes, MOST_AHEAD)
        self._in_order = device.time_source is TimeSource.MODELLED
        self._by_status: Counter[Status] = Counter()
        self._error = ""
        self._fruitless = 0  # evaluations since the best was found
        self._few: list[Trial] = []
        self._runoff: Runoff | None = None
        self._ended = False

    def _is_asked(self, schedule: Schedule) -> bool:
        everything = self._asked is self._operator
        return everything or not self._asked.violations(self._problem, schedule, self._spec)

    def go_on(
        self,
        on_progress: Callable[[Progress], None] | None,
        following: tuple[Operator[Any, Any], Problem] | None,
    ) -> None:
        """Search until the trials, the time or the schedules are over; then say which schedule is the best."""

        trials = self._options.trials

        def meanwhile() -> None:
            if following and not self._in_order:  # nothing waits for a compiler on a device that takes the processors
                compile_first(*following, self._device, self._db, self._pool, min(self._depth, trials))
            if self._options.seconds is None or self._options.seconds > _SHORT:
                self._proposals.prepare()

        start, left = self._evaluator.start, self._seconds_left
        with (
            Ahead(self._proposals, trials, start, self._depth, self._in_order, meanwhile, left) as ahead,
            self._device.session(self._operator, self._problem, self._options.seed) as session,
        ):
            self._try_all(ahead, session, on_progress)
            ahead.end()
            self._try_twin(session)
            self._run_off(session)
            self._rank()
        self._ended = True

    def result(self) -> TuneResult:
        """What was found; of a search that was interrupted, by then."""
        return TuneResult(
            best=self._best,
            evaluated=self._by_status.total(),
            known=len(self._known),
            by_status=dict(self._by_status),
            illegal=self._proposals.illegal,
            seconds=self._elapsed(),
            exhausted=self._proposals.exhausted,
            interrupted=not self._ended,
            runoff=self._runoff,
            error=self._error,
        )

    def _try_all(self, ahead: Ahead, session: Session, on_progress: Callable[[Progress], None] | None) -> None:
        for job in ahead:
            trial, number = self._evaluated(job, session)
            ahead.tell(number)
            if trial is self._best and not self._in_order and (twin := self._twin()):
                self._evaluator.prepare(twin)
            if on_progress:
                done, left = self._by_status.total(), ahead.under_way
                on_progress(Progress(trial, done, self._options.trials, self._elapsed(), self._best, left))

    def _seconds_left(self) -> float | None:
        """Until the run ends; None if it does not, since it evaluates one schedule at least."""
        if self._options.patience and self._fruitless >= self._options.patience:
            return 0.0
        seconds = self._options.seconds
        return None if seconds is None or not self._by_status else max(0.0, seconds - self._elapsed())

    def _evaluated(self, job: Job, session: Session) -> tuple[Trial, int]:
        """What became of a candidate, which is stored, and its number in the study."""
        trial, objective = self._evaluator.finish(job, session), self._options.objective
        if objective is Objective.ENERGY and trial.ok and not trial.joules:
            device = self._device.selector
            raise DeviceError(f"device {device} measures no energy: open a GPU by worker_device(…, energy=True)")
        number = self._study.end(trial)
        self._compared.add(trial.schedule_digest)
        if trial.status is not Status.OK:
            self._error = trial.error or str(trial.status)
            FailureReport(trial, self._device.selector, self._options.seed, listing(job.program)).write()
        self._few = leaders([*self._few, trial], objective)
        self._best = next(iter(leaders([self._incumbent, *self._few], objective)), None)
        self._by_status[trial.status] += 1
        self._fruitless = 0 if self._best is trial else self._fruitless + 1
        return trial, number

    def _twin(self) -> Schedule | None:
        """The shape-generic twin of the best schedule, which may serve other problems, if it was not tried."""
        if self._best is None:
            return None
        schedule: Schedule = self._operator.schedule(self._best.schedule).shape_generic
        legal = not self._asked.violations(self._problem, schedule, self._spec)
        return schedule if legal and schedule.digest not in (self._best.schedule_digest, *self._compared) else None

    def _try_twin(self, session: Session) -> None:
        twin = self._twin() if self._by_status.total() < self._options.trials else None
        if twin and self._proposals.take(twin):
            self._evaluated(self._evaluator.start(twin), session)

    def _run_off(self, session: Session) -> None:
        def measured_again(trial: Trial) -> Trial:
            schedule = self._operator.schedule(trial.schedule)
            return self._evaluator.finish(self._evaluator.start(schedule), session)

        if self._options.objective is Objective.ENERGY:  # of a second each, the mean of which is no minimum of noise
            return
        if entered := participants(self._incumbent, self._few, self._by_status.total()):
            self._runoff, again = run_off(entered, measured_again)
            for trial in again:
                self._db.record(trial)
            self._best = self._runoff.winner if self._runoff else next(iter(leaders(again)), None)

    def _rank(self) -> None:
        """Let the database put the best first, and take what others have found in the meantime."""

        def lost(trial: Trial) -> bool:
            finished = self._runoff is not None and trial.schedule_digest in self._compared
            return finished or self._history.superseded(trial)

        if self._best and self._options.objective is Objective.TIME:
            for trial in losers(self._best, self._history.ranked(), lost):
                self._db.record(trial)
        self._proposals.learn()
        if self._proposals.others:  # they have found out more
            self._best = self._history.best({one.digest for one in self._history.tried() if self._is_asked(one)})
