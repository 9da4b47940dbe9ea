"""The modelled ladder, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autotune.db.states import TimeSource
from autotune.search_spaces.machine.rates import duration, rate, rates_document

from .output import print_table

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.search_spaces.machine.device_spec import DeviceSpec


def print_ladder(operator: str, problem: Problem, spec: DeviceSpec, seconds: Mapping[str, float]) -> None:
    """A row for each rung: its time, its rate, and how many times as fast the last one is."""
    last = [*seconds.values()][-1]
    rows = [
        (name, f"{duration(taken)} {TimeSource.MODELLED}", rate(problem, spec, taken), f"{taken / last:.3f}×")
        for name, taken in seconds.items()
    ]
    title = f"{operator} {problem.key} on {spec.name}, by the time model"
    print_table(title, ("contender", "time", "rate", f"{[*seconds][-1]} is"), rows)


def ladder_document(operator: str, problem: Problem, spec: DeviceSpec, seconds: Mapping[str, float]) -> dict[str, Any]:
    """The same for scripts."""
    contenders = {name: {"seconds": taken, **rates_document(problem, taken)} for name, taken in seconds.items()}
    about = {"operator": operator, "problem": problem.key, "device": spec.name}
    return about | {"time_source": TimeSource.MODELLED, "contenders": contenders}
