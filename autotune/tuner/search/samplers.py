"""The samplers by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

# Optuna takes a quarter of a second to import, so it is imported only for tuning.
if TYPE_CHECKING:
    from optuna.samplers import BaseSampler

# Optuna's, by the names of their classes.
_OPTUNA: Mapping[str, str] = {
    "tpe": "TPESampler",
    "random": "RandomSampler",
    "nsga2": "NSGAIISampler",
    "brute_force": "BruteForceSampler",
    "gp": "GPSampler",
}
BAYES = "bayes"  # `ScheduleSampler`
SAMPLERS = (BAYES, *_OPTUNA)


def missing(name: str) -> str:
    """Why this machine cannot use a sampler, and the remedy; empty if it can."""
    return (
        "the sampler gp needs PyTorch: pip install 'autotune[torch]'" if name == "gp" and not find_spec("torch") else ""
    )


def new_sampler(name: str, seed: int, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec) -> BaseSampler:
    """A sampler by its name in `SAMPLERS`, for a problem on a device."""
    if name == BAYES:
        from .schedule_sampler import ScheduleSampler

        return ScheduleSampler(operator, problem, spec, first=(), seed=seed)
    import optuna

    sampler: BaseSampler = getattr(optuna.samplers, _OPTUNA[name])(seed=seed)
    return sampler
