"""What proposes schedules, by name."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Protocol

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

# Optuna's, by the names of their classes.
_OPTUNA: Mapping[str, str] = {
    "tpe": "TPESampler",
    "random": "RandomSampler",
    "nsga2": "NSGAIISampler",
    "brute_force": "BruteForceSampler",
    "gp": "GPSampler",
}
BAYES = "bayes"  # `BayesSearch`
SAMPLERS = (BAYES, *_OPTUNA)


class Search(Protocol):
    """Proposes legal schedules of a space, and none that waits or was told.

    Attributes:
        illegal: draws rejected so far.
    """

    illegal: int

    def __contains__(self, schedule: object) -> bool: ...

    def prepare(self) -> object:
        """Do what would take the next proposal long."""

    def propose(self) -> Schedule | None:
        """A schedule to try next; None if no new one is found."""

    def wait_for(self, schedule: Schedule) -> None:
        """A schedule of the space is being tried."""

    def tell(self, schedule: Schedule, seconds: float | None) -> None:
        """How a schedule did; None for a failure."""


def missing(name: str) -> str:
    """Why this machine cannot use a sampler, and the remedy; empty if it can."""
    return (
        "the sampler gp needs PyTorch: pip install 'autotune[torch]'" if name == "gp" and not find_spec("torch") else ""
    )


def new_search(name: str, seed: int, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec) -> Search:
    """What a name in `SAMPLERS` stands for, for a problem on a device."""
    # Optuna, SciPy and NumPy take long to import, so they are imported only for tuning.
    if name == BAYES:
        from .bayes import bayes_search

        return bayes_search(operator, problem, spec, seed)
    import optuna

    from .optuna_search import OptunaSearch

    def violations(schedule: Schedule) -> list[str]:
        return operator.violations(problem, schedule, spec)

    return OptunaSearch(operator.space(problem, spec), violations, getattr(optuna.samplers, _OPTUNA[name])(seed=seed))
