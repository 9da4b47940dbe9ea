"""How much longer the dispatcher's choices for random problems take than what tuning finds for each of them.

    python benchmarks/tuned_regrets.py DEVICE FILE COUNT SEED TRIALS OPERATOR=SECONDS…

Of each operator, COUNT problems are drawn as by ``autotune bench dispatch OPERATOR --random COUNT --seed SEED``. What
the dispatcher chooses is found and compiled on all processors. Then tuning tries TRIALS schedules of each problem, for
two seconds at most, while those of the next few problems are compiled. If that finds something else, the choice and the
best are measured in turns. The last problem begins within SECONDS. Trials are stored in the tuning database; FILE gets
each problem with its choice, its best schedule, their times and the regret.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

from random_problems import drawn
from regrets import ROUNDS, figures

from autotune.base.files import write_text
from autotune.bench import OwnSchedule, compare
from autotune.codegen.model.problem import Problem
from autotune.compile_pool import CompilePool
from autotune.compiler import CompileError
from autotune.db import TuningDB
from autotune.devices.base import DeviceError
from autotune.devices.cuda import CudaDevice
from autotune.devices.select import worker_device
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.tuner import TuneOptions, TuneResult, tune
from autotune.tuner.ahead import compile_first

_MOST_SECONDS = 2.0  # of tuning
_AHEAD = 4  # problems that are compiled meanwhile, which takes sixteen processors longer than a GPU to try them


def regret_of(
    operator: Operator[Any, Any], problem: Problem, own: OwnSchedule, found: TuneResult, device: CudaDevice
) -> dict[str, Any]:
    """A tuned problem's regret as JSON values."""
    values = {"problem": problem.key, "choice": str(own.schedule), "trials": found.evaluated}
    if not found.best:
        return {**values, "error": "no schedule worked"}
    best = operator.schedule(found.best.schedule)
    values["best"] = str(best)
    if best == own.schedule:
        return {**values, "seconds": {"choice": found.best.seconds, "best": found.best.seconds}, "regret": 0.0}
    kernels = {
        "choice": own.program(operator, problem, device.spec),
        "best": operator.program(problem, best, device.spec),
    }
    try:
        with device.session(operator, problem, seed=0) as session:
            comparison = compare(session, kernels, {}, ROUNDS)
    except (CompileError, DeviceError) as error:
        return {**values, "error": str(error)}
    seconds = {which: comparison.seconds(which) for which in kernels}
    return {**values, "seconds": seconds, "regret": max(0.0, seconds["choice"] / seconds["best"] - 1)}


def main(selector: str, path: str, count: str, seed: str, trials: str, *wanted: str) -> None:
    """Take the words of the command line."""
    limits = {name: float(seconds) for name, _, seconds in (word.partition("=") for word in wanted)}
    device = CudaDevice(int(selector))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        chosen = {name: processes.submit(drawn, name, device.spec, int(count), int(seed)) for name in limits}
        entries = {name: future.result() for name, future in chosen.items()}
    taken = {"taken_at": datetime.now(UTC).isoformat(), "device": device.spec.name, **device.environment}
    result: dict[str, Any] = {"environment": taken, "seed": int(seed), "trials": int(trials), "operators": {}}
    options = TuneOptions(trials=int(trials), seconds=_MOST_SECONDS)
    with worker_device(selector) as worker, CompilePool() as pool, TuningDB() as database:
        for name, some in entries.items():
            for problem, own in some:
                pool.prepare(own.program(registered(name), problem, device.spec), device.spec.arch)
        for name, limit in limits.items():
            operator, some = registered(name), entries[name]
            start, cases = monotonic(), list[dict[str, Any]]()
            for problem, _ in some[:_AHEAD]:
                compile_first(operator, problem, worker, database, pool, options.trials)
            for number, (problem, own) in enumerate(some):
                if monotonic() >= start + limit:
                    break
                following = next(((operator, later) for later, _ in some[number + _AHEAD :]), None)
                found = tune(operator, problem, worker, database, options, pool=pool, following=following)
                cases.append(regret_of(operator, problem, own, found, device))
                print(json.dumps(cases[-1]), flush=True)
            regret = figures([case["regret"] for case in cases if "regret" in case])
            result["operators"][name] = {"regret": regret, "drawn": len(some), "problems": cases}
            print(name, f"{len(cases)} of {len(some)}", *(f"{share} {loss:.1%}" for share, loss in regret.items()))
            write_text(Path(path), json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
