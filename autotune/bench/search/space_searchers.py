"""Searches of measured spaces: each evaluation with what it found and how long it took."""

from __future__ import annotations

import json
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from functools import lru_cache, partial
from io import StringIO
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time, process_time_ns
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from .measured_space import Configuration, MeasuredSpace, Outcome

# From a space, a seed and the seconds that there are to the evaluations, each of another configuration. Their seconds
# include the CPU time that the search took to ask for them. Who asks stops when the seconds are over.
SpaceSearcher = Callable[[MeasuredSpace, int, float], Iterator[Outcome]]

_MILLISECONDS = 1e3
_STARTUP = 30  # seconds: its limit includes imports and building the space, which are no part of a search here
_CPU_TIME = SimpleNamespace(perf_counter_ns=process_time_ns)  # what Kernel Tuner's timers read here


def _bayes(space: MeasuredSpace, seed: int, limit: float) -> Iterator[Outcome]:
    """Our search, which knows no times before it measures them."""
    from autotune.tuner.search.bayes import BayesSearch

    search = BayesSearch(space.space, space.outcomes.__contains__, None, seed)
    while True:
        start = process_time()
        configuration = search.propose()
        if configuration is None:
            return
        search.wait_for(configuration)
        outcome = space.outcomes[configuration]
        search.tell(configuration, outcome.time if outcome.time < inf else None)
        yield Outcome(outcome.time, outcome.seconds + process_time() - start)


def _random(space: MeasuredSpace, seed: int, limit: float) -> Iterator[Outcome]:
    """Every configuration equally likely, none twice."""
    order = list(space.outcomes.values())
    random.Random(seed).shuffle(order)
    return iter(order)


def _kernel_tuner(strategy: str, space: MeasuredSpace, seed: int, limit: float) -> Iterator[Outcome]:
    """A strategy of Kernel Tuner in its simulation mode; it knows which configurations satisfy the constraints."""
    import kernel_tuner
    import numpy as np
    from constraint import FunctionConstraint

    # Its strategies draw from the global generators.
    random.seed(seed)
    np.random.seed(seed)
    values = {parameter.name: list(parameter.values) for parameter in space.parameters}
    options = {"time_limit": limit + _STARTUP, "max_fevals": len(space.outcomes)}
    with (
        TemporaryDirectory() as folder,
        patch.object(kernel_tuner.util, "time", _CPU_TIME),
        warnings.catch_warnings(),
        redirect_stdout(StringIO()),
    ):
        warnings.simplefilter("ignore")
        path = Path(folder) / "cache.json"
        path.write_text(_cache(space), encoding="utf-8")
        results, _ = kernel_tuner.tune_kernel(
            space.name,
            "",
            (1,),
            [],
            values,
            restrictions=[FunctionConstraint(lambda *configuration: configuration in space.outcomes)],
            cache=str(path),
            simulation_mode=True,
            strategy=strategy,
            strategy_options=options,
            seed=seed,
            quiet=True,
        )
    found: dict[Configuration, Outcome] = {}
    waited = 0.0
    for result in results:
        configuration = tuple(result[name] for name in values)
        waited += result.get("strategy_time", 0.0) / _MILLISECONDS
        if configuration not in found:  # coming back to one costs nothing but the search's own time
            outcome = space.outcomes[configuration]
            found[configuration] = Outcome(outcome.time, outcome.seconds + waited)
            waited = 0.0
    return iter(found.values())


@lru_cache(maxsize=1)
def _cache(space: MeasuredSpace) -> str:
    """The space as a cache of Kernel Tuner, which many seeds replay."""
    names = [parameter.name for parameter in space.parameters]

    def entry(configuration: Configuration, outcome: Outcome) -> Mapping[str, Any]:
        spent = {"compile_time": outcome.seconds * _MILLISECONDS, "verification_time": 0.0, "benchmark_time": 0.0}
        ok = (
            {"time": outcome.time}
            if outcome.time < inf
            else dict.fromkeys(("time", "__error__"), "RuntimeFailedConfig")
        )
        return dict(zip(names, configuration, strict=True)) | ok | spent

    return json.dumps(
        {
            "device_name": "measured",
            "kernel_name": space.name,
            "problem_size": [1],
            "tune_params_keys": names,
            "tune_params": {parameter.name: list(parameter.values) for parameter in space.parameters},
            "objective": "time",
            "cache": {",".join(map(str, one)): entry(one, outcome) for one, outcome in space.outcomes.items()},
        }
    )


STRATEGIES = ("bayes_opt", "genetic_algorithm", "hybrid_vndx", "adaptive_tabu_greywolf")
SPACE_SEARCHERS: Mapping[str, SpaceSearcher] = {
    "bayes": _bayes,
    "random": _random,
    **{f"kernel_tuner.{strategy}": partial(_kernel_tuner, strategy) for strategy in STRATEGIES},
}
