"""Schedules with measured times, by which coefficients of the time model are fitted, and the candidates beside them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.schedule import Schedule
from autotune.db.states import TimeSource
from autotune.db.trials import Trial
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.contract.registry import operator as operator_of
from autotune.search_spaces.machine.coefficients import Coefficients
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec

_HELD_OUT = 3  # one problem of so many, by the hash of its key


@dataclass(frozen=True)
class Timed:
    """A schedule of a problem on a device.

    Attributes:
        seconds: how long it was measured to take; of a candidate without a time, at least.
        candidate: whether it is one.
    """

    operator: Operator[Any, Any]
    problem: Problem
    schedule: Schedule
    spec: DeviceSpec
    seconds: float
    candidate: bool = False

    @property
    def setting(self) -> tuple[str, str, str]:
        """What other schedules share that compute the same there."""
        return self.operator.name, self.problem.key, self.spec.name

    @property
    def held_out(self) -> bool:
        """Whether it judges a fit rather than makes it."""
        return hashlib.sha256(self.problem.key.encode()).digest()[0] % _HELD_OUT == 0

    @property
    def modelled(self) -> float:
        """Its modelled time."""
        return modelled_seconds(self.operator, self.problem, self.schedule, self.spec)


def timed(trials: Iterable[Trial]) -> tuple[list[Timed], dict[str, int]]:
    """The measured schedules that are legal today, the shortest time of each; how many trials are left out, and why."""
    found: dict[tuple[Any, ...], Timed] = {}
    left_out: dict[str, int] = {}
    for trial in trials:
        one = _read(trial)
        if isinstance(one, str):
            left_out[one] = left_out.get(one, 0) + 1
            continue
        key = *one.setting, one.schedule
        if key not in found or one.seconds < found[key].seconds:
            found[key] = one
    return list(found.values()), left_out


def with_candidates(known: Sequence[Timed], section: str) -> list[Timed]:
    """The schedules, and the candidates of their problems that have no time: none is faster than the fastest.

    Those that another kernel's section decides on count, too; of a section of all kernels, they are too many.
    """
    if len(operators_of(section)) == len(OPERATORS):
        return list(known)
    fastest: dict[tuple[str, str, str], Timed] = {}
    for one in known:
        if one.setting not in fastest or one.seconds < fastest[one.setting].seconds:
            fastest[one.setting] = one
    measured = {(*one.setting, one.schedule) for one in known}
    return [
        *known,
        *(
            replace(best, schedule=schedule, candidate=True)
            for setting, best in fastest.items()
            for schedule in dict.fromkeys(one.shape_generic for one in best.operator.seeds(best.problem, best.spec))
            if (*setting, schedule) not in measured
        ),
    ]


def operators_of(section: str) -> list[str]:
    """The operators whose workloads count with a section: all of them if it is of no kernel alone.

    Raises:
        ValueError: no such section; the message lists those that there are.
    """
    found = {name: operator_of(name) for name in OPERATORS}
    if section not in sections():
        raise ValueError(f"unknown section {section!r}; known: {', '.join(sorted(sections()))}")
    own = sections()[section].__module__
    return [
        name for name, one in found.items() if any(kernel.workload.__module__ == own for kernel in one.kernels)
    ] or list(found)


def sections() -> dict[str, type[Coefficients]]:
    """The coefficients of each section."""
    return {kind.section: kind for kind in Coefficients.__subclasses__()}


def _read(trial: Trial) -> Timed | str:
    if trial.time_source is not TimeSource.MEASURED:
        return "modelled"
    if not trial.ok or trial.seconds is None:
        return f"{trial.status}"
    try:
        operator = operator_of(trial.problem.operator)
        problem = operator.problem_type.from_dict(trial.problem.fields)
        schedule, spec = operator.schedule(trial.schedule), device_spec(trial.device.limits)
    except ValueError:
        return "of another version"
    if operator.violations(problem, schedule, spec):
        return "illegal today"
    return Timed(operator, problem, schedule, spec, trial.seconds)
