"""The tuning loop: propose, compile ahead, evaluate, store, tell."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..compile_pool import CompilePool
from ..db.states import Status, TimeSource
from ..db.trials import Trial
from ..devices.base import Device
from ..devices.replay import evaluable
from ..optuna_log import quiet_optuna
from ..runs.failure_report import FailureReport
from ..runs.history import History
from ..runs.run import A_CALL, Run, begun
from ..search_spaces.operator import Operator
from ..signals import handled
from .ahead import MOST_AHEAD, Ahead, compile_first
from .arguments import check_arguments
from .evaluator import Evaluator, Job
from .options import Progress, TuneOptions, TuneResult
from .runoff import Runoff, fastest, losers, participants, run_off

if TYPE_CHECKING:
    from ..db import TuningDB

# Seconds. So short a run hardly comes to what the sampler proposes, and who computes keeps the device's thread waiting.
_SHORT = 2.0


@handled(signal.default_int_handler, signal.SIGTERM)
@quiet_optuna()
def tune(
    operator: Operator[Any, Any],
    problem: Problem,
    device: Device,
    db: TuningDB,
    options: TuneOptions,
    on_progress: Callable[[Progress], None] | None = None,
    now: Callable[[], float] = monotonic,
    pool: CompilePool | None = None,
    run: Run | None = None,
    following: tuple[Operator[Any, Any], Problem] | None = None,
) -> TuneResult:
    """Look for the fastest schedule of a problem on a device, and store every trial.

    Earlier winners and the operator's seeds come first, in the order of the time model, then what the sampler draws. If
    the best schedule is shape-specialised, its shape-generic twin comes last, since that may serve other problems. A
    schedule that has a fresh trial of this problem, device model, kind of time and compiler is not evaluated again, so
    the same call continues where an earlier one stopped. Runs at the same time share a study (`StoredStudy`), so that
    each schedule is tried by one of them. A failed candidate leaves a `FailureReport`, a long run ends with a runoff.
    After Ctrl-C and SIGTERM, everything done is stored.

    What is tried, and in which order, follows from the options, the database and the evaluations, and from what other
    runs do. Where times are modelled, how long compiling takes has no influence. Where they are measured, a kernel that
    is ready does not wait for one that is not.

    Args:
        operator, problem: what to tune.
        device: what to tune it for.
        db: where trials are stored.
        options: how long to look, and how.
        on_progress: called after each evaluation.
        now: a clock in seconds.
        pool: compiles, and is left warm for the next problem; by default one that ends with this call.
        run: what this is a part of; by default a run of its own.
        following: what is tuned next with the same pool, whose first kernels are compiled meanwhile.

    Raises:
        DeviceError: the device cannot be used, or no longer; what was done is stored.
        DatabaseError: the database cannot be read or written.
        CompilerMissingError: there is no compiler.
        TypeError: an argument is of another type, such as the operator's name.
        ValueError: the problem is empty.
    """
    from .proposals import Proposals
    from .shared import SharedProposals
    from .stored_study import StoredStudy

    start = now()
    check_arguments(operator, problem, device, db, options)
    if problem.empty:
        raise ValueError(f"{operator.name} {problem.key} has nothing to compute, so there is nothing to tune")
    if run is None:
        with begun(db, A_CALL, operator, [device], asdict(options)) as own:
            result = tune(operator, problem, device, db, options, on_progress, now, pool, own, following)
            own.interrupted = result.interrupted
            return result
    if pool is None:
        with CompilePool(options.compile_workers) as own_pool:
            return tune(operator, problem, device, db, options, on_progress, now, own_pool, run, following)
    operator, spec = evaluable(operator, problem, device), device.limits
    with StoredStudy(db, operator, problem, device, run.id, options.study) as study:
        history = History(operator, problem, device, db)
        known, first = history.tried(), history.first_candidates()
        compared = {schedule.digest for schedule in known}
        best = incumbent = history.best(compared)
        proposals = Proposals(operator, problem, spec, options.sampler, options.seed, first, known)
        candidates = SharedProposals(proposals, study, history.tried)
        evaluator = Evaluator(operator, problem, device, pool, run.id)
        depth = min(2 * pool.processes, MOST_AHEAD)
        by_status: Counter[Status] = Counter()
        few: list[Trial] = []
        decided: Runoff | None = None
        interrupted = False
        in_order = device.time_source is TimeSource.MODELLED

        def seconds_left() -> float | None:
            """Until the run ends; None if it does not, since it evaluates one schedule at least."""
            return None if options.seconds is None or not by_status else max(0.0, start + options.seconds - now())

        def for_others() -> Schedule | None:
            """The shape-generic twin of the best schedule, which may serve other problems, if it was not tried."""
            if best is None:
                return None
            schedule: Schedule = operator.schedule_type.from_dict(best.schedule).shape_generic
            legal = not operator.violations(problem, schedule, spec)
            return schedule if legal and schedule.digest not in (best.schedule_digest, *compared) else None

        def meanwhile() -> None:
            if following and not in_order:  # nothing waits for a compiler on a device that takes the processors itself
                compile_first(*following, device, db, pool, depth)
            if options.seconds is None or options.seconds > _SHORT:
                candidates.prepare()

        try:
            with (
                Ahead(candidates, options.trials, evaluator.start, depth, in_order, meanwhile, seconds_left) as ahead,
                device.session(operator, problem, options.seed) as session,
            ):

                def measured_again(trial: Trial) -> Trial:
                    return evaluator.finish(evaluator.start(operator.schedule_type.from_dict(trial.schedule)), session)

                def evaluated(job: Job) -> Trial:
                    nonlocal best, few
                    trial = evaluator.finish(job, session)
                    db.record(trial)
                    compared.add(trial.schedule_digest)
                    if trial.status is not Status.OK:
                        FailureReport(trial, device.selector, options.seed, job.program.source).write()
                    few = fastest([*few, trial])
                    best = next(iter(fastest([incumbent, *few])), None)
                    by_status[trial.status] += 1
                    return trial

                for candidate, job in ahead:
                    trial = evaluated(job)
                    ahead.tell(candidate, trial)
                    if trial is best and not in_order and (others := for_others()):
                        evaluator.prepare(others)
                    if on_progress:
                        done, left = by_status.total(), ahead.under_way
                        on_progress(Progress(trial, done, options.trials, now() - start, best, left))
                ahead.end()
                others = for_others() if by_status.total() < options.trials else None
                if others and (twin := candidates.claim(others)):
                    candidates.tell(twin, evaluated(evaluator.start(others)))
                if entered := participants(incumbent, few, by_status.total()):
                    decided, again = run_off(entered, measured_again)
                    for trial in again:
                        db.record(trial)
                    best = decided.winner if decided else next(iter(fastest(again)), None)
                if best:

                    def lost(trial: Trial) -> bool:
                        finished = decided is not None and trial.schedule_digest in compared
                        return finished or history.superseded(trial)

                    for trial in losers(best, history.ranked(), lost):
                        db.record(trial)
                if candidates.others:  # they have found out more
                    best = history.best({schedule.digest for schedule in history.tried()})
        except KeyboardInterrupt:
            interrupted = True
        return TuneResult(
            best=best,
            evaluated=by_status.total(),
            known=len(known),
            by_status=dict(by_status),
            illegal=proposals.illegal,
            seconds=now() - start,
            exhausted=proposals.exhausted,
            interrupted=interrupted,
            runoff=decided,
        )
