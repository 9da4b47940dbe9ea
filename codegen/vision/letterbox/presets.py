"""The ladder of kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit, emit_filtered, emit_naive, emit_staged
from .filtered.schedule import FilteredSchedule
from .schedule import LetterboxSchedule
from .staged.schedule import first_staged
from .target import Targets


def _taps(problem: Targets) -> Program:
    """Filters, which have many, where the rule has one."""
    return emit_filtered(problem, FilteredSchedule()) if problem.rule.filtered else emit(problem, LetterboxSchedule())


def _vectorised(problem: Targets) -> Program:
    if problem.rule.filtered:
        return _taps(problem)
    return emit(problem, LetterboxSchedule(pixels=min(4, problem.widest)))


def _staged(problem: Targets) -> Program:
    """The rung below where rows of the picture cannot be copied."""
    schedule = first_staged(problem)
    return emit_staged(problem, schedule) if schedule else _vectorised(problem)


PRESETS: Mapping[str, Callable[[Targets], Program]] = {
    "naive": emit_naive,
    "taps": _taps,
    "vectorised": _vectorised,
    "staged": _staged,
}
