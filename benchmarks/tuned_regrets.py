"""How much longer the dispatcher's choices for random problems take than what tuning finds for each of them.

    python benchmarks/tuned_regrets.py DEVICE FILE COUNT SEED TRIALS OPERATOR=SECONDS…

Of each operator, COUNT problems are drawn as by ``autotune bench dispatch OPERATOR --random COUNT --seed SEED``. What
the dispatcher chooses is found and compiled on all processors. Then tuning tries TRIALS schedules of each problem, for
two seconds at most. If that finds something else, the choice and the best are measured in turns. The last problem
begins within SECONDS. Trials are stored in the tuning database; FILE gets each problem with its choice, its best
schedule, their times and the regret.
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

from random_problems import Entry, drawn
from regrets import ROUNDS, figures

from autotune.base.files import write_text
from autotune.bench import compare
from autotune.compile_pool import CompilePool
from autotune.compiler import CompileError
from autotune.db import TuningDB
from autotune.devices.base import Device, DeviceError
from autotune.devices.cuda import CudaDevice
from autotune.devices.select import worker_device
from autotune.search_spaces.contract.registry import operator as registered
from autotune.tuner import TuneOptions, tune

_MOST_SECONDS = 2.0  # of tuning


def regret_of(
    name: str, entry: Entry, device: CudaDevice, worker: Device, trials: int, pool: CompilePool, following: Any
) -> dict[str, Any]:
    """A problem's regret as JSON values."""
    operator, (problem, own) = registered(name), entry
    with TuningDB() as database:
        options = TuneOptions(trials=trials, seconds=_MOST_SECONDS)
        found = tune(operator, problem, worker, database, options, pool=pool, following=following)
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
    with worker_device(selector) as worker, CompilePool() as pool:
        for name, some in entries.items():
            for problem, own in some:
                pool.prepare(own.program(registered(name), problem, device.spec), device.spec.arch)
        for name, limit in limits.items():
            start, cases, some = monotonic(), list[dict[str, Any]](), entries[name]
            for entry, following in zip(some, [*some[1:], None], strict=True):
                if monotonic() >= start + limit:
                    break
                ahead = (registered(name), following[0]) if following else None
                cases.append(regret_of(name, entry, device, worker, int(trials), pool, ahead))
                print(json.dumps(cases[-1]), flush=True)
            regret = figures([case["regret"] for case in cases if "regret" in case])
            result["operators"][name] = {"regret": regret, "drawn": len(some), "problems": cases}
            print(name, f"{len(cases)} of {len(some)}", *(f"{share} {loss:.1%}" for share, loss in regret.items()))
            write_text(Path(path), json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
