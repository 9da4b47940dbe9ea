"""How near the best known a tuning run from an empty database has come after some seconds.

    python benchmarks/from_empty.py DEVICE [OPERATOR [FIELD=VALUE…] [SECONDS…]]

One run tunes a problem, sgemm at 4096³ if none is named, until the last of SECONDS (10 60) are over. What was best at
each moment is then measured in turns with the best of the records that ship for the device, or if there is none with
the fastest of the run. A run that is long enough for a runoff has it after its last second.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from side_by_side import fastest, over, shown, side_by_side

from autotune.codegen.model.problem import Problem
from autotune.compile_pool import CompilePool
from autotune.db import Trial, TuningDB
from autotune.devices.base import Device
from autotune.devices.select import worker_device
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.tuner import Progress, TuneOptions, tune

_SQUARE = {"m": 4096, "n": 4096, "k": 4096}


def main(selector: str, name: str = "sgemm", *words: str) -> None:
    """Tune, then measure what was best at each moment."""
    fields = {field: _value(text) for field, _, text in (word.partition("=") for word in words if "=" in word)}
    operator = registered(name)
    problem = operator.problem_type.from_dict(fields or _SQUARE)
    moments = sorted(int(word) for word in words if "=" not in word) or [10, 60]
    with worker_device(selector) as device, CompilePool() as pool:
        with TuningDB("sqlite://") as shipped:
            known = shipped.best(name, problem.key, device.spec.name)
        bests = _bests(operator, problem, device, pool, moments)
        if len(bests) < len(moments):
            sys.exit(f"nothing worked in {moments[0]} s")
        schedules = {moment: operator.schedule(trial.schedule) for moment, trial in bests.items()}
        best = operator.schedule(known.schedule) if known else None
        times = side_by_side(operator, problem, device, pool, [*schedules.values(), *([best] if best else [])])
    named = {f"after {moment} s": schedule for moment, schedule in schedules.items()}
    named["best known" if best else "fastest"] = best = best or fastest(times)
    operations = sum(problem.work.operations.values())
    for title, schedule in named.items():
        middle = median(times[schedule])
        print(f"{title:12} {1e6 * middle:.2f} us  {operations / middle / 1e12:.2f} TFLOP/s", end="  ")
        print(f"over the best known {shown(over(times, schedule, best))}  {schedule}")


def _value(text: str) -> Any:
    """A field's value, such as 4096 or true; other words are strings."""
    with suppress(ValueError):
        return json.loads(text)
    return text


def _bests(
    operator: Operator[Any, Any], problem: Problem, device: Device, pool: CompilePool, moments: list[int]
) -> dict[int, Trial]:
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
            result = tune(operator, problem, device, db, options, note, pool=pool)
    if result.best:
        bests[moments[-1]] = result.best
    print(f"{result.evaluated} evaluations in {result.seconds:.1f} s", flush=True)
    return bests


if __name__ == "__main__":
    main(*sys.argv[1:])
