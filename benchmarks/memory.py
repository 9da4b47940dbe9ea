"""What a long tuning run takes: time and memory after 500 and after up to 10,000 trials.

    python benchmarks/memory.py [SAMPLER]

The search, the database and the time model are real; nothing is compiled and nothing is emulated.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from autotune.codegen.problem import Problem
from autotune.codegen.schedule import Schedule
from autotune.codegen.source import KernelSource
from autotune.compiler import CompiledKernel, Resources
from autotune.db import Status, TuningDB
from autotune.devices.base import Evaluation
from autotune.devices.model import predict_seconds
from autotune.devices.offline import OfflineDevice
from autotune.search_spaces.registry import operator
from autotune.tuner import Progress, TuneOptions, loop, tune

SHOWN = (500, 1000, 2000, 5000, 10_000)


class Pool:
    """In the place of a `CompilePool`: every kernel has 128 registers."""

    def __init__(self, workers: int) -> None:
        pass

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_exception: object) -> None:
        pass

    def submit(self, source: KernelSource, arch: str) -> Future[CompiledKernel]:
        """A future that is done."""
        future: Future[CompiledKernel] = Future()
        future.set_result(CompiledKernel(b"", Resources(128), arch, "none"))
        return future


class Device(OfflineDevice):
    """Models times, as often as a GPU would sample them, and verifies nothing."""

    @contextmanager
    def session(self, operator: Any, problem: Problem, seed: int) -> Iterator[Any]:
        """The device is its own session."""
        self._problem = problem
        yield self

    def evaluate(self, schedule: Schedule, source: KernelSource, kernel: CompiledKernel) -> Evaluation:
        """A modelled time."""
        try:
            seconds = predict_seconds(self._problem, source, kernel.resources, self.limits)
        except ValueError as error:
            return Evaluation(Status.LAUNCH_ERROR, error=str(error))
        return Evaluation(Status.OK, tuple(seconds * (1 + 1e-6 * sample) for sample in range(100)))


def show(progress: Progress) -> None:
    """Print the memory in use."""
    if progress.done in SHOWN:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        used = pages * resource.getpagesize() / 1e6
        print(f"{progress.done:>6} trials  {progress.elapsed:6.1f} s  {used:6.1f} MB", flush=True)


def main(sampler: str = "tpe") -> None:
    """Tune a product of 4096 for an H200."""
    loop.CompilePool = Pool  # type: ignore[assignment, misc]
    sgemm = operator("sgemm")
    with TemporaryDirectory() as folder, TuningDB(f"{folder}/tuning.sqlite3") as db:
        options = TuneOptions(trials=SHOWN[-1], sampler=sampler)
        tune(sgemm, sgemm.problem_type(4096, 4096, 4096), Device("h200"), db, options, show)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])
