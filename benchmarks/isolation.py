"""What it costs to measure in a process of its own: the same kernels evaluated here and there, in turns.

    python benchmarks/isolation.py DEVICE [SIZE]

DEVICE is a GPU's number or an offline device; SIZE (4096) is that of a square sgemm, whose seeds are evaluated.
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.compile_pool import CompilePool
from autotune.devices.base import Device
from autotune.devices.select import device, worker_device
from autotune.search_spaces.contract.registry import operator

SGEMM = operator("sgemm")
ROUNDS = 5


def main(selector: str, size: int = 4096) -> None:
    """Evaluate each seed in both processes, round after round, and print what the worker adds."""
    problem = SGEMM.problem_type(size, size, size)
    start = perf_counter()
    with worker_device(selector) as there, CompilePool() as pool:
        print(f"start of the process  {perf_counter() - start:.2f} s, once for a run of many problems")
        devices: dict[str, Device] = {"here": device(selector), "there": there}
        seeds = SGEMM.seeds(problem, there.spec)
        sources = [SGEMM.program(problem, seed, there.spec) for seed in seeds]
        kernels = [job.result() for job in [pool.submit(source, there.spec.arch) for source in sources]]
        candidates = list(zip(seeds, sources, kernels, strict=True))
        # The first round makes what is cached, such as the emulator's executables.
        rounds = [[_seconds(one, problem, candidates) for one in devices.values()] for _ in range(1 + ROUNDS)][1:]
    here, away = (min(seconds) for seconds in zip(*rounds, strict=True))  # the rounds that were disturbed least
    for name, seconds in zip(devices, (here, away), strict=True):
        print(f"{name:<21} {1e3 * seconds / len(candidates):.2f} ms for each of {len(candidates)} kernels")
    print(f"isolation costs       {away / here - 1:.2%} of measuring")


def _seconds(one: Device, problem: Problem, candidates: list[Any]) -> float:
    """How long it takes to evaluate the candidates in a new session, without setting that up."""
    with one.session(SGEMM, problem, seed=0) as session:
        start = perf_counter()
        for candidate in candidates:
            session.evaluate(*candidate)
        return perf_counter() - start


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
