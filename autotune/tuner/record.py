"""Measuring a list of schedules rather than looking for the best one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.compiler import compiler_version
from autotune.db.trials import Trial
from autotune.devices.base import Device
from autotune.runs.history import History
from autotune.runs.run import Run
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.restriction import restrict_schedules

from .loop import tune
from .options import Progress, TuneOptions, TuneResult

if TYPE_CHECKING:
    from autotune.db import TuningDB


def recording_options(schedules: Sequence[Schedule], seed: int = 0) -> TuneOptions:
    """How many schedules are tried; the seed is that of their choice."""
    return TuneOptions(len(schedules), sampler="random", seed=seed)


def record(
    operator: Operator[Any, Any],
    problem: Problem,
    device: Device,
    db: TuningDB,
    schedules: Sequence[Schedule],
    on_progress: Callable[[Progress], None] | None = None,
    run: Run | None = None,
) -> tuple[TuneResult, list[Trial]]:
    """Evaluate legal schedules as `tune` does, and store each trial; those that the database knows are not repeated.

    Returns:
        How the run ended, and the trials of all schedules that have one, earlier ones included.
    """
    listed = restrict_schedules(operator, schedules, "the list")
    listed = listed.with_kernels(candidates=lambda problem, spec: list(schedules))
    result = tune(listed, problem, device, db, recording_options(schedules), on_progress, run=run)
    known = History(operator, problem, device, db).tried()
    alike = (compiler_version(), device.time_source)
    trials = db.trials(operator.name, problem.key, device.spec.name)
    newest = {one.schedule_digest: one for one in reversed(trials) if (one.compiler, one.time_source) == alike}
    return result, [newest[schedule.digest] for schedule in schedules if schedule in known]
