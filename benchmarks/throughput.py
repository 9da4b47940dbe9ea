"""Trials per second of the tuner on a device whose evaluations take a while: is the device ever kept waiting?

    python benchmarks/throughput.py [SAMPLER] [MILLISECONDS] [TRIALS]

The search, the database, the time model and the measuring process are real; nothing is compiled, and an evaluation is a
wait of 25 ms.
"""

from __future__ import annotations

import sys
from functools import partial
from tempfile import TemporaryDirectory

from fakes import Device, Pool

from autotune.db import TuningDB
from autotune.devices.worker_device import WorkerDevice
from autotune.search_spaces.contract.registry import operator
from autotune.tuner import Progress, TuneOptions, tune

_EVERY = 50


def main(sampler: str = "bayes", milliseconds: str = "25", trials: str = "300") -> None:
    """Tune a product of 4096 for an H200."""
    sgemm, seconds = operator("sgemm"), float(milliseconds) / 1e3
    last = 0.0

    def show(progress: Progress) -> None:
        nonlocal last
        if progress.done % _EVERY == 0:
            rate = _EVERY / (progress.elapsed - last)
            print(f"{progress.done:>6} trials  {rate:5.1f} a second, {rate * seconds:4.0%} of the device", flush=True)
            last = progress.elapsed

    problem = sgemm.problem_type(4096, 4096, 4096)
    options = TuneOptions(trials=int(trials), sampler=sampler)
    with (
        TemporaryDirectory() as folder,
        TuningDB(f"{folder}/tuning.sqlite3") as db,
        WorkerDevice(partial(Device, "h200", seconds)) as device,
    ):
        result = tune(sgemm, problem, device, db, options, show, pool=Pool())  # type: ignore[arg-type]
    rate = result.evaluated / result.seconds
    print(f"{'all':>6} trials  {rate:5.1f} a second, {rate * seconds:4.0%} of the device")


if __name__ == "__main__":
    main(*sys.argv[1:])
