"""Trials per second of 1, 2, 4 and 8 tuners that work on one study, in processes of this machine.

    python benchmarks/study.py URL [--bare]

Each number of tuners gets a database of its own on the PostgreSQL server of the URL, which is dropped afterwards, and
an empty cache. The device is offline: it compiles, and runs kernels in the emulator. With --bare it does neither, so
that only the study and the database are left. Schedules are drawn at random, which costs next to nothing.
"""

from __future__ import annotations

import os
import sys
import tempfile
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

from fakes import Device, Pool
from sqlalchemy import create_engine, make_url, text

from autotune.compile_pool import CompilePool
from autotune.db import TuningDB
from autotune.devices.select import worker_device
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import TuneOptions, tune

TUNERS = (1, 2, 4, 8)
TRIALS, BARE_TRIALS = 32, 100  # trials of each tuner
NAME = "autotune_bench_study"


def work(url: str, barrier: Barrier, seed: int, trials: int, bare: bool) -> None:
    """Tune a small transpose when all others are ready."""
    transpose = operator("transpose")
    problem = transpose.problem_type(64, 64)
    options = TuneOptions(trials, sampler="random", seed=seed, compile_workers=1, study="bench")
    device: Any = Device("h200") if bare else worker_device("h200")
    pool: Any = Pool() if bare else CompilePool(1)
    with TuningDB(url) as db, pool:
        schedule = transpose.default(problem, device.spec)
        pool.submit(transpose.program(problem, schedule, device.spec), device.spec.arch).result()  # starts a process
        barrier.wait()
        tune(transpose, problem, device, db, options, pool=pool)
    if not bare:
        device.__exit__()


def rate(url: str, tuners: int, bare: bool) -> float:
    """Trials per second, between the first and the last that are stored."""
    processes = get_context("spawn")
    TuningDB(url).close()
    barrier = processes.Barrier(tuners)
    trials = BARE_TRIALS if bare else TRIALS
    started = [processes.Process(target=work, args=(url, barrier, seed, trials, bare)) for seed in range(tuners)]
    for process in started:
        process.start()
    for process in started:
        process.join()
    with TuningDB(url) as db:
        made = sorted(trial.created_at for trial in db.trials("transpose", limit=trials * tuners))
    assert len(made) == trials * tuners, "a tuner failed"
    return (len(made) - 1) / (made[-1] - made[0]).total_seconds()


def main(url: str, *options: str) -> None:
    """Print the rate for each number of tuners."""
    os.environ["AUTOTUNE_PRETUNED"] = os.devnull
    server = create_engine(url, isolation_level="AUTOCOMMIT")
    for tuners in TUNERS:
        with tempfile.TemporaryDirectory() as cache, server.connect() as connection:
            os.environ["AUTOTUNE_CACHE"] = cache
            connection.execute(text(f"CREATE DATABASE {NAME}"))
            try:
                own = make_url(url).set(database=NAME).render_as_string(hide_password=False)
                print(f"{tuners} tuners  {rate(own, tuners, '--bare' in options):6.1f} trials/s", flush=True)
            finally:
                connection.execute(text(f"DROP DATABASE {NAME}"))


if __name__ == "__main__":
    main(*sys.argv[1:])
