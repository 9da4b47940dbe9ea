"""Random problems of many operators in one process, against what users would call instead.

    python benchmarks/random_problems.py DEVICE FOLDER COUNT SEED OPERATOR=SECONDS…

Of each operator, COUNT problems for each of its SECONDS are drawn as by ``autotune bench dispatch OPERATOR --random
COUNT --seed SEED``, and measured against the first of cuBLAS, cuDNN, FlashAttention-3 and PyTorch that computes it and
is installed. What the dispatcher chooses is found on all processors; kernels are compiled ahead of the GPU. The last
problem of an operator begins within SECONDS. FOLDER gets a file random-OPERATOR.json for each, of the same form.
"""

from __future__ import annotations

import sys
from concurrent.futures import Future, ProcessPoolExecutor
from functools import cache
from math import ceil
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

from autotune.base.files import write_text
from autotune.bench import Baseline, OwnSchedule, Run, Setting, baselines_of, find_own_schedule
from autotune.bench.dispatch.random_problems import likes_of, random_problems
from autotune.cli.rendering.bench_document import document
from autotune.cli.rendering.bench_random import standing_document
from autotune.cli.rendering.output import json_text
from autotune.codegen.model.problem import Problem
from autotune.compile_pool import CompilePool
from autotune.db import TuningDB
from autotune.devices.cuda import CudaDevice
from autotune.dispatcher.choice.records import read_records
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.tuner.known_problems import known_problems

ROUNDS = 12
RIVALS = ("cublas", "cudnn", "fa3", "torch", "torchvision")

Entry = tuple[Problem, OwnSchedule]


def drawn(name: str, spec: DeviceSpec, count: int, seed: int) -> list[Entry]:
    """Random problems, and what the dispatcher would choose for each."""
    operator = registered(name)
    with TuningDB() as database:
        known = [problem for _, problem in known_problems([operator], database)]
        read = cache(lambda one: read_records(one, spec, database))
        problems = random_problems(likes_of(operator, known), spec, count, seed)
        return [(problem, find_own_schedule(operator, problem, spec, database, read)) for problem in problems]


def refused(name: str, future: Future[list[Entry]]) -> bool:
    """Whether an operator's problems cannot be drawn; says why."""
    error = future.exception()
    if error is not None and not isinstance(error, ValueError):
        raise error
    if error is not None:
        print(f"{name}: {error}")
    return error is not None


def rival_of(operator: Operator[Any, Any]) -> dict[str, Baseline]:
    """What users would call instead, if it is installed."""
    known = baselines_of(operator)
    return next(({name: known[name]} for name in RIVALS if name in known and not known[name].missing()), {})


def compiled_ahead(pool: CompilePool, entries: dict[str, list[Entry]], spec: DeviceSpec) -> dict[str, list[Any]]:
    """For each operator, what each of its problems waits for."""

    def submitted(operator: Operator[Any, Any], problem: Problem, own: OwnSchedule) -> list[Future[Any]]:
        programs = [own.program(operator, problem, spec)]
        if operator.reference:
            programs.append(operator.reference(problem))
        return [pool.submit(program, spec.arch) for program in programs]

    return {name: [submitted(registered(name), *entry) for entry in some] for name, some in entries.items()}


def measured(setting: Setting, entries: list[Entry], waited: list[list[Future[Any]]], limit: float) -> list[Run]:
    """What came of the problems that were begun before the time was over."""
    start, runs = monotonic(), list[Run]()
    for (problem, own), futures in zip(entries, waited, strict=True):
        if monotonic() >= start + limit:
            break
        for future in futures:
            future.exception()
        runs.append(setting.run(problem, own, own.source))
    return runs


def main(selector: str, folder: str, count: str, seed: str, *wanted: str) -> None:
    """Take the words of the command line."""
    limits = {name: float(seconds) for name, _, seconds in (word.partition("=") for word in wanted)}
    device = CudaDevice(int(selector))
    Path(folder).mkdir(parents=True, exist_ok=True)
    with TuningDB() as database:
        peaks = database.peaks(device.spec)
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        counts = {name: ceil(int(count) * limit) for name, limit in limits.items()}
        found = {name: processes.submit(drawn, name, device.spec, some, int(seed)) for name, some in counts.items()}
        entries = {name: future.result() for name, future in found.items() if not refused(name, future)}
    print(f"{'':23}against      problems    mean   least below 0.95  below 1")
    with CompilePool() as pool:
        waited = compiled_ahead(pool, entries, device.spec)
        for name, limit in ((name, limits[name]) for name in entries):
            setting = Setting(registered(name), device, rival_of(registered(name)), ROUNDS, peaks)
            runs = measured(setting, entries[name], waited[name], limit)
            standing = standing_document(runs)
            about = {"seed": int(seed), "drawn": counts[name], "seconds": limit, **standing}
            result = {**document(setting, {}, runs), "random": about}
            write_text(Path(folder) / f"random-{name}.json", json_text(result) + "\n")
            ratios = [f"{standing[which] or 0:8.3f}" for which in ("mean", "least")]
            below = [f"{standing[which]:9}" for which in ("below_095", "below_1")]
            print(f"{name:23}{', '.join(setting.baselines):10}{standing['against']:11}", *ratios, *below, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
