"""The ladder of kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import Detections
from .schedule import DecodeSchedule

PRESETS: Mapping[str, Callable[[Detections], Program]] = {
    "naive": emit_naive,
    "parts": lambda problem: emit(problem, DecodeSchedule(points=256, splits=1)),
    "split": lambda problem: emit(problem, DecodeSchedule(points=64, splits=4)),
    "vectorised": lambda problem: emit(problem, DecodeSchedule(128, 8, min(4, problem.vector_width))),
}
