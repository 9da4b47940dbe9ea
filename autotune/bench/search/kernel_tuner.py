"""Recordings for Kernel Tuner: its cache file, the T4 results file, and its strategies on a simulated device.

The cache is what `kernel_tuner.tune_kernel(cache=…)` of version 1.5 writes, T4 what version 1.0.0 of its schema says.
Times are milliseconds there. A configuration is a draw of the search space.
"""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from autotune.base.errors import InputError
from autotune.codegen.model.schedule import Schedule
from autotune.db.states import Status
from autotune.db.trials import Trial
from autotune.devices.recording import Recording
from autotune.search_spaces.contract.space import Draw, Space

_MILLISECONDS = 1e3
_ERRORS = {Status.COMPILE_ERROR: "CompilationFailedConfig", Status.ILLEGAL: "InvalidConfig"}
_INVALIDITY = {
    Status.OK: "correct",
    Status.ILLEGAL: "constraints",
    Status.COMPILE_ERROR: "compile",
    Status.WRONG: "correctness",
    Status.TIMEOUT: "timeout",
}
_TIMINGS = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")


def cache_document(recording: Recording) -> dict[str, Any]:
    """The recording as a cache of Kernel Tuner, which its simulation mode replays."""
    space = recording.operator.space(recording.problem, recording.spec)
    names = [parameter.name for parameter in space.parameters]
    configurations = [(_draw(space, schedule), trial) for schedule, trial in recording.trials.items()]
    return {
        "device_name": recording.spec.name,
        "kernel_name": recording.operator.name,
        "problem_size": [1],
        "tune_params_keys": names,
        "tune_params": {parameter.name: list(parameter.values) for parameter in space.parameters},
        "objective": "time",
        "cache": {_key(names, draw): {**draw, **_result(trial)} for draw, trial in configurations},
    }


def t4_document(recording: Recording) -> dict[str, Any]:
    """The recording in the T4 format of the auto-tuning community."""
    space = recording.operator.space(recording.problem, recording.spec)
    return {
        "schema_version": "1.0.0",
        "results": [_t4_result(_draw(space, schedule), trial) for schedule, trial in recording.trials.items()],
        "metadata": {"timeunit": "milliseconds"},
    }


def simulated(recording: Recording, strategy: str, seed: int, budget: int) -> list[float]:
    """Seconds of the configurations that a strategy asks for, in order, each once; infinite for one that failed.

    Kernel Tuner is told which configurations are recorded and ok, and asks for no others.

    Raises:
        InputError: the strategy cannot search so few schedules.
    """
    import kernel_tuner
    import numpy as np

    # Its strategies draw from the global generators.
    random.seed(seed)
    np.random.seed(seed)
    options = {"max_fevals": budget}
    names, text = _cache_text(recording)
    with TemporaryDirectory() as folder, warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        path = Path(folder) / "cache.json"
        path.write_text(text, encoding="utf-8")
        try:
            results, _ = kernel_tuner.tune_cache(
                str(path), strategy=strategy, strategy_options=options, seed=seed, quiet=True
            )
        except ValueError as error:  # what some strategies begin with is more than a small recording has
            known = len(recording.trials)
            raise InputError(f"kernel_tuner.{strategy} cannot search {known} schedules: {error}") from None
    # A strategy that comes back to a configuration pays nothing for it.
    times = {_key(names, result): result["time"] for result in results}
    return [time / _MILLISECONDS if isinstance(time, float) else inf for time in times.values()]


@lru_cache(maxsize=1)
def _cache_text(recording: Recording) -> tuple[list[str], str]:
    """The parameters' names and the cache file of a recording, which many seeds replay."""
    document = cache_document(recording)
    return document["tune_params_keys"], json.dumps(document)


def _draw(space: Space[Any], schedule: Schedule) -> Draw:
    draw = space.draw_of(schedule)
    return {parameter.name: draw[parameter.name] for parameter in space.parameters}


def _key(names: Sequence[str], values: Mapping[str, Any]) -> str:
    return ",".join(str(values[name]) for name in names)


def _result(trial: Trial) -> dict[str, Any]:
    common = {"timestamp": trial.created_at.isoformat(), **dict.fromkeys(_TIMINGS, 0.0)}
    if trial.status is not Status.OK or trial.seconds is None:
        error = _ERRORS.get(trial.status, "RuntimeFailedConfig")
        return {"time": error, "__error__": error, **common}
    return {"time": trial.seconds * _MILLISECONDS, "times": _milliseconds(trial), **common}


def _t4_result(draw: Draw, trial: Trial) -> dict[str, Any]:
    times = [{"name": "time", "value": trial.seconds * _MILLISECONDS, "unit": "ms"}] if trial.seconds else []
    return {
        "timestamp": trial.created_at.isoformat(),
        "configuration": draw,
        "objectives": ["time"],
        "times": {"runtimes": _milliseconds(trial)},
        "invalidity": _INVALIDITY.get(trial.status, "runtime"),
        "correctness": 0 if trial.status is Status.WRONG else 1,
        "measurements": times,
    }


def _milliseconds(trial: Trial) -> list[float]:
    return [sample * _MILLISECONDS for sample in trial.samples]
