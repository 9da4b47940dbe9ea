"""The ladder of sorts in segments."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program
from autotune.codegen.sorting.passes import doubling, in_passes, with_spares

from .emit import emit, source_of
from .problem import SegmentedSortProblem
from .schedule import SegmentedSortSchedule


def emit_naive(problem: SegmentedSortProblem) -> Program:
    """Passes of a thread for each key, which searches the other run for its place."""
    keys = problem.columns
    program = source_of(problem).plain(", a thread for each key", keys, "merge_keys(arguments);")
    passes = in_passes(program, problem.values, [keys] * doubling(keys))
    return with_spares(passes, problem.dtype, problem.values, keys)


PRESETS: Mapping[str, Callable[[SegmentedSortProblem], Program]] = {
    "naive": emit_naive,
    "tiles": lambda problem: emit(problem, SegmentedSortSchedule(128, 5)),
}
