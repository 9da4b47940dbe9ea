"""The ladder of sorts by merges, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.sorting.passes import doubling, in_passes, with_spares

from .emit import emit, source_of
from .problem import MergeSortProblem
from .schedule import MergeSortSchedule


def emit_naive(problem: MergeSortProblem) -> Program:
    """Passes of a thread for each key, which searches the other run for its place."""
    keys = problem.rows * problem.columns
    program = source_of(problem).plain(", a thread for each key", keys, "merge_keys(arguments);")
    return _passes(problem, program, [keys] * doubling(problem.columns))


def emit_pairwise(problem: MergeSortProblem) -> Program:
    """Passes of a thread for each pair of runs: at last, one for all keys of a row."""
    levels = range(doubling(problem.columns))
    pairs = [problem.rows * ceil_div(problem.columns, 2 << level) for level in levels]
    program = source_of(problem).plain(", a thread for each pair of runs", pairs[0], "merge_pair(arguments);")
    return _passes(problem, program, pairs)


def _passes(problem: MergeSortProblem, program: Program, threads: Sequence[int]) -> Program:
    passes = in_passes(program, problem.values, threads)
    return with_spares(passes, problem.dtype, problem.values, problem.rows * problem.columns)


PRESETS: Mapping[str, Callable[[MergeSortProblem], Program]] = {
    "naive": emit_naive,
    "pairwise": emit_pairwise,
    "tiles": lambda problem: emit(problem, MergeSortSchedule(128, 5)),
}
