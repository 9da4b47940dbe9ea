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

from autotune.codegen.problem import Problem
from autotune.codegen.program import Program
from autotune.codegen.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.compiler import CompiledKernel
from autotune.confidence import ratio_interval
from autotune.db import TuningDB
from autotune.devices.base import Device, Session
from autotune.devices.select import worker_device
from autotune.search_spaces.registry import operator
from autotune.tuner import TuneOptions, tune

SGEMM = operator("sgemm")
RUNS = PROCESSES = 10
ROUNDS = 8

Kernel = tuple[Schedule, Program, CompiledKernel]


def main(selector: str, size: int = 1024, seconds: int = 120) -> None:
    """Tune with each seed, then measure the winners."""
    problem = SGEMM.problem_type(size, size, size)
    with worker_device(selector) as device, CompilePool() as pool:
        winners = [_winner(problem, device, pool, seed, seconds / RUNS) for seed in range(RUNS)]
        kernels = {winner: _compiled(problem, device, pool, winner) for winner in winners}
        with device.session(SGEMM, problem, seed=0) as session:
            turns = [[_seconds(session, kernel) for kernel in kernels.values()] for _ in range(ROUNDS)]
    times = dict(zip(kernels, zip(*turns, strict=True), strict=True))
    fastest = min(times, key=lambda winner: median(times[winner]))
    ratios = {winner: ratio_interval(times[winner], times[fastest], 0.99) for winner in times}
    for seed, winner in enumerate(winners):
        ratio = ratios[winner]
        shown = f"{ratio.middle:.4f} ({ratio.low:.4f} to {ratio.high:.4f})"
        print(f"seed {seed}  {1e6 * median(times[winner]):.2f} us, over the fastest {shown}  {winner}")
    slowest = max(ratio.middle for ratio in ratios.values())
    print(f"the winners of {RUNS} runs are within     {slowest - 1:.2%} of the fastest", flush=True)
    medians = [_in_a_new_process(problem, selector, kernels[fastest]) for _ in range(PROCESSES)]
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
    return SGEMM.schedule_type.from_dict(found.best.schedule)


def _compiled(problem: Problem, device: Device, pool: CompilePool, schedule: Schedule) -> Kernel:
    source = SGEMM.program(problem, schedule, device.limits)
    return schedule, source, pool.submit(source, device.limits.arch).result()


def _in_a_new_process(problem: Problem, selector: str, kernel: Kernel) -> float:
    with worker_device(selector) as device, device.session(SGEMM, problem, seed=0) as session:
        return _seconds(session, kernel)


def _seconds(session: Session, kernel: Kernel) -> float:
    """The median of an evaluation."""
    found = session.evaluate(*kernel)
    if found.seconds is None:
        sys.exit(f"{kernel[0]}: {found.status}: {found.error}")
    return found.seconds


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
