"""Two ways to find what is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program
from autotune.codegen.selection.sampling.schedule import SamplingSchedule

from .emit import emit, emit_naive
from .problem import FilterTokensProblem

PRESETS: Mapping[str, Callable[[FilterTokensProblem], Program]] = {
    "naive": emit_naive,
    "blocks": lambda problem: emit(problem, SamplingSchedule(vector_width=problem.widest)),
}
