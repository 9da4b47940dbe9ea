"""The ladder of kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import DecodeProblem
from .schedule import DecodeSchedule

PRESETS: Mapping[str, Callable[[DecodeProblem], Program]] = {
    "naive": emit_naive,
    "parts": lambda problem: emit(problem, DecodeSchedule(points=256, splits=1)),
    "split": lambda problem: emit(problem, DecodeSchedule(points=64, splits=4)),
}
