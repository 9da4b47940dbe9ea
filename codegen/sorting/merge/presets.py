"""The ladder of merges, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program

from .emit import emit, source_of
from .problem import MergeProblem
from .schedule import MergeSchedule

_CHUNK = 16  # keys of a thread


def emit_naive(problem: MergeProblem) -> Program:
    """A thread for each key, which searches the other array for its place."""
    return source_of(problem).plain(", a thread for each key", problem.columns)


def emit_merge_path(problem: MergeProblem) -> Program:
    """A thread for each chunk of the result, which searches both arrays for its first keys."""
    chunks = ceil_div(problem.columns, _CHUNK)
    return source_of(problem).plain(", a thread for each chunk", chunks, f"merge_chunk<{_CHUNK}>(arguments);")


PRESETS: Mapping[str, Callable[[MergeProblem], Program]] = {
    "naive": emit_naive,
    "merge_path": emit_merge_path,
    "tiles": lambda problem: emit(problem, MergeSchedule(128, 7)),
}
