"""Two ways to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import SamplingProblem
from .schedule import SamplingSchedule

PRESETS: Mapping[str, Callable[[SamplingProblem], Program]] = {
    "naive": emit_naive,
    "blocks": lambda problem: emit(problem, SamplingSchedule(vector_width=problem.widest)),
}
