"""A run on one problem: its arguments, its pool, its study, its signals."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from time import monotonic
from typing import TYPE_CHECKING, Any

from autotune.base.optuna_log import quiet_optuna
from autotune.base.signals import handled
from autotune.codegen.model.problem import Problem
from autotune.compile_pool import CompilePool
from autotune.devices.base import Device
from autotune.devices.replay import evaluable
from autotune.runs.provenance import study_name
from autotune.runs.run import A_CALL, Run, begun
from autotune.search_spaces.contract.operator import Operator

from .arguments import check_arguments
from .options import Progress, TuneOptions, TuneResult

if TYPE_CHECKING:
    from autotune.db import TuningDB


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
    """Look for the best schedule of a problem on a device, by its time or its energy, and store every trial.

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
    from autotune.db.trials import DeviceRecord, ProblemRecord

    from .problem_search import ProblemSearch

    start = now()
    check_arguments(operator, problem, device, db, options)
    if problem.empty:
        raise ValueError(f"{operator.name} {problem.key} has nothing to compute, so there is nothing to tune")
    if run is None:
        with begun(db, A_CALL, operator.name, [device], asdict(options)) as own:
            result = tune(operator, problem, device, db, options, on_progress, now, pool, own, following)
            own.interrupted = result.interrupted
            return result
    if pool is None:
        with CompilePool(options.compile_workers) as own_pool:
            return tune(operator, problem, device, db, options, on_progress, now, own_pool, run, following)
    operator = evaluable(operator, problem, device)
    name = study_name(operator, problem, device, options.study, options.objective)
    of = DeviceRecord.of(device.spec), ProblemRecord.of(operator.name, problem)
    with db.study(name, *of, run.id, options.objective) as study:
        search = ProblemSearch(operator, problem, device, db, options, pool, study, run.id, lambda: now() - start)
        with suppress(KeyboardInterrupt):
            search.go_on(on_progress, following)
        return search.result()
