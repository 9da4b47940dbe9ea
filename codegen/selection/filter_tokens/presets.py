"""Two ways to find what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import FilterTokensProblem
from .schedule import FilterTokensSchedule

PRESETS: Mapping[str, Callable[[FilterTokensProblem], Program]] = {
    "naive": emit_naive,
    "digits": lambda problem: emit(problem, FilterTokensSchedule(256, problem.widest)),
}
