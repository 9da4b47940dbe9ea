"""Adapting to a device: of many problems, the few schedules that promise most are measured.

A search of each problem would take minutes. What other devices of the architecture found out is nearly always close to
the best here, so a glance at few schedules of each problem brings most of what a search does.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.base.signals import handled
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.listing import listing
from autotune.compile_pool import CompilePool
from autotune.compiler import compiler_version
from autotune.db.run_record import SEVERAL
from autotune.db.states import TimeSource
from autotune.db.trials import Trial
from autotune.devices.base import Device, DeviceError, DeviceLostError, Session
from autotune.dispatcher.choice.choose import choices
from autotune.dispatcher.choice.records import read_records
from autotune.dispatcher.choice.rule import Rule
from autotune.runs.failure_report import FailureReport
from autotune.runs.history import History
from autotune.runs.run import A_CALL, Run, begun
from autotune.search_spaces.contract.operator import Operator

from .adapted import Adapted, AdaptResult
from .evaluator import Evaluator, Job
from .known_problems import Wanted, in_turns
from .runoff import merged

if TYPE_CHECKING:
    from autotune.db import TuningDB

FIVE_MINUTES = 300.0
_OF_KIN = 2  # the fastest schedules of a problem on each of the kin
_MORE = 16  # schedules of each problem, if there is time left
_CLOSE = 1.03  # up to this ratio to the fastest, times are measured twice: the first of several samples is often slow
_SEED = 0


@handled(signal.default_int_handler, signal.SIGTERM)
def adapt(
    problems: Iterable[Wanted],
    device: Device,
    db: TuningDB,
    seconds: float = FIVE_MINUTES,
    on_progress: Callable[[Wanted, AdaptResult], None] | None = None,
    now: Callable[[], float] = monotonic,
    run: Run | None = None,
) -> AdaptResult:
    """Measure the few schedules of each problem that promise most, and store each trial.

    They are what serves it now, for its shape alone and for any, the fastest on kin, and what else the dispatcher would
    take: three to six. Kernels are compiled on all processors, ahead of the device, which takes the problems in the
    order in which they are ready. Schedules whose times are close are measured a second time, in the opposite order, so
    that a clock that drifts does not decide. Trials are verified as those of `tune` are.

    When all problems are through and there is time left, up to 16 schedules of each are tried. What has a fresh trial
    is not measured again, so the same call goes on where an earlier one stopped.

    Args:
        problems: those of several operators are taken in turns.
        device: what to adapt to.
        db: where trials are stored, and what other devices found out.
        seconds: no problem is begun later than that.
        on_progress: called after each problem that was measured, with it and the result so far.
        now: a clock in seconds.
        run: what this is a part of; by default a run of its own.

    Raises:
        DeviceLostError: the device cannot be used any more; what was done is stored.
        DatabaseError: the database cannot be read or written.
        CompilerMissingError: there is no compiler.
        ValueError: `seconds` is not above 0.
    """
    if not seconds > 0:
        raise ValueError(f"seconds={seconds}: expected more than 0")
    if run is None:
        options = {"seconds": seconds, "sampler": "adapt", "seed": _SEED}
        with begun(db, A_CALL, SEVERAL, [device], options) as own:
            result = adapt(problems, device, db, seconds, on_progress, now, own)
            own.interrupted = result.interrupted
            return result
    start = now()
    wanted = list(in_turns(problems))
    result = AdaptResult(wanted=len(wanted))
    with ThreadPoolExecutor() as threads, CompilePool(None) as pool:
        adaption = _Adaption(device, db, pool, run.id)
        try:
            for more in (False, True):
                prepare = partial(adaption.prepare, more=more)
                for prepared in _ready(prepare, wanted, threads, pool.processes, lambda: now() - start < seconds):
                    adaption.measure(prepared, result)
                    result.seconds = now() - start
                    if on_progress and prepared.jobs:
                        on_progress(prepared.of, result)
        except KeyboardInterrupt:
            result.interrupted = True
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
    return result


class _Prepared(NamedTuple):
    """A problem whose kernels are compiled: those to be measured, of which the first may have been before."""

    of: Wanted
    serving: str  # digest of the schedule that serves it
    evaluator: Evaluator
    jobs: list[Job]


class _Adaption:
    """What takes problems to trials.

    Args:
        device, db: as of `adapt`.
        pool: compiles.
        run: the id of the run.
    """

    def __init__(self, device: Device, db: TuningDB, pool: CompilePool, run: str) -> None:
        self._device, self._db, self._pool, self._run = device, db, pool, run
        self._records = cache(lambda operator: read_records(operator, device.spec, db))

    def prepare(self, of: Wanted, more: bool) -> _Prepared:
        """Choose what to measure of a problem, and wait until it is compiled; `more` takes what a search would try."""
        operator, problem = of
        history = History(operator, problem, self._device, self._db)
        promising = list(dict.fromkeys(self._promising(operator, problem)))
        if more:
            promising = list(dict.fromkeys([*promising, *history.first_candidates()]))[:_MORE]
        tried = history.tried()
        new = [schedule for schedule in promising if schedule not in tried]
        if new and tried and tried[best := min(tried, key=lambda one: tried[one])] < inf:
            new.insert(0, best)  # to be measured beside them
        evaluator = Evaluator(operator, problem, self._device, self._pool, self._run)
        if new and operator.reference:
            self._pool.prepare(operator.reference(problem), self._device.spec.arch)
        jobs = [evaluator.start(schedule) for schedule in new]
        for job in jobs:
            job.kernel.exception()  # which raises if the pool ends; `wait` would not return then
        return _Prepared(of, promising[0].digest, evaluator, jobs)

    def measure(self, prepared: _Prepared, result: AdaptResult) -> None:
        """Measure the schedules of a problem, store their trials, and put into the result what came of it."""
        of, (operator, problem) = prepared.of, prepared.of
        if not prepared.jobs:
            if of not in result.adapted:
                result.known.add(of)
            return
        result.known.discard(of)
        try:
            with self._device.session(operator, problem, _SEED) as session:
                trials = _measured(prepared, session)
        except DeviceLostError:
            raise
        except DeviceError as error:  # such as of a problem that is larger than the memory
            result.skipped[of] = str(error)
            return
        for job, trial in zip(prepared.jobs, trials, strict=True):
            self._db.record(trial)
            if not trial.ok:
                FailureReport(trial, self._device.selector, _SEED, listing(job.program)).write()
        earlier = result.adapted.get(of)
        measured = {trial.schedule_digest: trial for trial in trials if trial.ok}
        ok = sorted(measured.values(), key=_seconds)
        result.adapted[of] = Adapted(
            operator,
            problem,
            earlier.before if earlier else measured.get(prepared.serving),
            ok[0] if ok else None,
            len(trials) + (earlier.tried if earlier else 0),
            len(trials) - len(ok) + (earlier.failed if earlier else 0),
        )

    def _promising(self, operator: Operator[Any, Any], problem: Problem) -> Iterator[Schedule]:
        """What serves a problem, the fastest of its kin, and what else the dispatcher would take.

        What serves it is tried for its shape alone and for any shape: problems of other sizes get the latter.
        """
        serving, *others = choices(operator, problem, self._device.spec, self._records(operator))
        yield from (serving.schedule, serving.schedule.shape_generic, serving.schedule.shape_specialized)
        yield from self._of_kin(operator, problem)
        yield from (other.schedule for other in others if other.rule is not Rule.DEFAULT)

    def _of_kin(self, operator: Operator[Any, Any], problem: Problem) -> Iterator[Schedule]:
        """The fastest schedules of the problem on each device of the architecture, as far as they are legal here."""
        spec = self._device.spec
        for kin in self._db.kin(operator.name, spec):
            known = operator.name, problem.key, kin.model, compiler_version(), TimeSource.MEASURED
            for trial in self._db.ranked(*known, _OF_KIN):
                with suppress(ValueError):  # of another version
                    schedule = operator.schedule(trial.schedule)
                    if not operator.violations(problem, schedule, spec):
                        yield schedule


def _measured(prepared: _Prepared, session: Session) -> list[Trial]:
    """A trial of each job; those that are close have the samples of two measurements."""
    evaluator, jobs = prepared.evaluator, prepared.jobs
    trials = [evaluator.finish(job, session) for job in jobs]
    limit = _CLOSE * min(map(_seconds, trials))
    close = [n for n, trial in enumerate(trials) if trial.ok and _seconds(trial) <= limit]
    if len(close) > 1 and trials[close[0]].time_source is TimeSource.MEASURED:
        for n in reversed(close):
            trials[n] = merged([trials[n], evaluator.finish(jobs[n], session)])
    return trials


def _ready(
    prepare: Callable[[Wanted], _Prepared],
    wanted: Iterable[Wanted],
    threads: ThreadPoolExecutor,
    ahead: int,
    goes_on: Callable[[], bool],
) -> Iterator[_Prepared]:
    """Prepared problems in the order in which they are ready; twice as many are under way as are compiled at once."""
    source = iter(wanted)
    under_way: set[Future[_Prepared]] = set()
    while goes_on():
        under_way |= {threads.submit(prepare, one) for one in islice(source, 2 * ahead - len(under_way))}
        if not under_way:
            break
        done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
        for one in done:
            if goes_on():
                yield one.result()


def _seconds(trial: Trial) -> float:
    return trial.seconds if trial.ok and trial.seconds is not None else inf
