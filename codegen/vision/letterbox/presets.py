"""The ladder of kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import LetterboxProblem
from .schedule import LetterboxSchedule


def widest(problem: LetterboxProblem) -> int:
    """Neighbours that one store of up to 16 bytes has, wherever they are in a target."""
    return widest_divisor(problem.align_target // problem.dtype.bytes, problem.width)


PRESETS: Mapping[str, Callable[[LetterboxProblem], Program]] = {
    "naive": emit_naive,
    "taps": lambda problem: emit(problem, LetterboxSchedule()),
    "vectorised": lambda problem: emit(problem, LetterboxSchedule(pixels=min(4, widest(problem)))),
}
