"""The ladder of kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit, emit_filtered, emit_naive, emit_staged
from .filtered.schedule import FilteredSchedule
from .problem import LetterboxProblem, widest
from .schedule import LetterboxSchedule
from .staged.schedule import first_staged


def _taps(problem: LetterboxProblem) -> Program:
    """Filters, which have many, where the rule has one."""
    return emit_filtered(problem, FilteredSchedule()) if problem.rule.filtered else emit(problem, LetterboxSchedule())


def _vectorised(problem: LetterboxProblem) -> Program:
    if problem.rule.filtered:
        return _taps(problem)
    return emit(problem, LetterboxSchedule(pixels=min(4, widest(problem))))


def _staged(problem: LetterboxProblem) -> Program:
    """The rung below where rows of the picture cannot be copied."""
    schedule = first_staged(problem)
    return emit_staged(problem, schedule) if schedule else _vectorised(problem)


PRESETS: Mapping[str, Callable[[LetterboxProblem], Program]] = {
    "naive": emit_naive,
    "taps": _taps,
    "vectorised": _vectorised,
    "staged": _staged,
}
