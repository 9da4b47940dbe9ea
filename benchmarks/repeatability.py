"""How far a result can be repeated: the winners of ten runs side by side, and one kernel measured in ten processes.

    python benchmarks/repeatability.py DEVICE [SIZE] [SECONDS]

Ten runs tune a square sgemm of SIZE (1024), each with a seed of its own, into an empty database, together for SECONDS
(120). Their winners are then measured in turns, so that a clock that drifts meets all, and the fastest of them once
more in ten new processes, one after the other. On a GPU the last two take about 40 s. What to expect: winners within
2 % of each other, medians of the processes within 1 %.
"""

from __future__ import annotations

import os
import sys
from statistics import median
from tempfile import TemporaryDirectory

from side_by_side import Kernel, compiled, fastest, measured, over, shown, side_by_side

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.db import TuningDB
from autotune.devices.base import Device
from autotune.devices.select import worker_device
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import TuneOptions, tune

SGEMM = operator("sgemm")
RUNS = PROCESSES = 10


def main(selector: str, size: int = 1024, seconds: int = 120) -> None:
    """Tune with each seed, then measure the winners."""
    problem = SGEMM.problem_type(size, size, size)
    with worker_device(selector) as device, CompilePool() as pool:
        winners = [_winner(problem, device, pool, seed, seconds / RUNS) for seed in range(RUNS)]
        times = side_by_side(SGEMM, problem, device, pool, winners)
        best = fastest(times)
        kernel = compiled(SGEMM, problem, device, pool, best)
    for seed, winner in enumerate(winners):
        ratio = shown(over(times, winner, best))
        print(f"seed {seed}  {1e6 * median(times[winner]):.2f} us, over the fastest {ratio}  {winner}")
    slowest = max(over(times, winner, best).middle for winner in winners)
    print(f"the winners of {RUNS} runs are within     {slowest - 1:.2%} of the fastest", flush=True)
    medians = [_in_a_new_process(problem, selector, kernel) for _ in range(PROCESSES)]
    print("medians of processes, us", *(f"{1e6 * one:.2f}" for one in medians))
    print(f"the medians of {PROCESSES} processes are within {max(medians) / min(medians) - 1:.2%}")


def _winner(problem: Problem, device: Device, pool: CompilePool, seed: int, seconds: float) -> Schedule:
    """What a run finds that knows of no other."""
    with TemporaryDirectory() as folder:
        os.environ["AUTOTUNE_PRETUNED"] = folder  # holds no records
        with TuningDB(f"{folder}/tuning.sqlite3") as db:
            found = tune(SGEMM, problem, device, db, TuneOptions(seconds=seconds, seed=seed), pool=pool)
    if found.interrupted or found.best is None:
        sys.exit(f"seed {seed}: interrupted, or nothing worked in {seconds:.3g} s: {dict(found.by_status)}")
    print(f"seed {seed}: {found.evaluated} evaluations in {found.seconds:.1f} s", flush=True)
    winner: Schedule = SGEMM.schedule(found.best.schedule)
    return winner


def _in_a_new_process(problem: Problem, selector: str, kernel: Kernel) -> float:
    with worker_device(selector) as device, device.session(SGEMM, problem, seed=0) as session:
        return measured(session, kernel)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
