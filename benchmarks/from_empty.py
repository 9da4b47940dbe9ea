"""How near the best known a tuning run from an empty database has come after some seconds.

    python benchmarks/from_empty.py DEVICE [SIZE] [SECONDS…]

One run tunes a square sgemm of SIZE (4096) until the last of SECONDS (10 60) are over. What was best at each moment is
then measured in turns with the best of the records that ship for the device, or if there is none with the fastest of
the run. A run that is long enough for a runoff has it after its last second.
"""

from __future__ import annotations

import os
import sys
from statistics import median
from tempfile import TemporaryDirectory

from side_by_side import SGEMM, fastest, over, shown, side_by_side

from autotune.codegen.problem import Problem
from autotune.codegen.schedule import Schedule
from autotune.codegen.work import Unit
from autotune.compile_pool import CompilePool
from autotune.db import Trial, TuningDB
from autotune.devices.base import Device
from autotune.devices.select import worker_device
from autotune.tuner import Progress, TuneOptions, tune


def main(selector: str, size: int = 4096, *seconds: int) -> None:
    """Tune, then measure what was best at each moment."""
    moments, problem = sorted(seconds) or [10, 60], SGEMM.problem_type(size, size, size)
    with worker_device(selector) as device, CompilePool() as pool:
        with TuningDB("sqlite://") as shipped:
            known = shipped.best("sgemm", problem.key, device.limits.name)
        bests = _bests(problem, device, pool, moments)
        if len(bests) < len(moments):
            sys.exit(f"nothing worked in {moments[0]} s")
        found = {moment: _schedule(trial) for moment, trial in bests.items()}
        times = side_by_side(problem, device, pool, [*found.values(), *([_schedule(known)] if known else [])])
    best = _schedule(known) if known else fastest(times)
    operations = problem.work.operations[Unit.FP32]
    named = {f"after {moment} s": schedule for moment, schedule in found.items()}
    for name, schedule in (named | {"best known" if known else "fastest": best}).items():
        middle = median(times[schedule])
        print(f"{name:12} {1e6 * middle:.2f} us  {operations / middle / 1e12:.2f} TFLOP/s", end="  ")
        print(f"over the best known {shown(over(times, schedule, best))}  {schedule}")


def _bests(problem: Problem, device: Device, pool: CompilePool, moments: list[int]) -> dict[int, Trial]:
    """The best trial at each moment of a run that knows of no other."""
    bests: dict[int, Trial] = {}

    def note(progress: Progress) -> None:
        for moment in moments:
            if progress.best and progress.elapsed <= moment:
                bests[moment] = progress.best

    with TemporaryDirectory() as folder:
        os.environ["AUTOTUNE_PRETUNED"] = folder  # holds no records
        with TuningDB(f"{folder}/tuning.sqlite3") as db:
            options = TuneOptions(trials=sys.maxsize, seconds=moments[-1])
            result = tune(SGEMM, problem, device, db, options, note, pool=pool)
    if result.best:
        bests[moments[-1]] = result.best
    print(f"{result.evaluated} evaluations in {result.seconds:.1f} s", flush=True)
    return bests


def _schedule(trial: Trial) -> Schedule:
    return SGEMM.schedule_type.from_dict(trial.schedule)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
