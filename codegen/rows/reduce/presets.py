"""The ladder of reductions, each rung one idea above the last (after Harris, Optimizing Parallel Reduction in CUDA,
2007, and Luitjens, Faster Parallel Reductions on Kepler, 2014)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program

from .emit import emit, emit_serial, emit_tree
from .problem import Axis, ReduceProblem
from .schedule import ReduceSchedule

_BLOCKS = 1024  # that a split is for, a few for each SM of a large device


def shuffles(problem: ReduceProblem) -> ReduceSchedule:
    """A block for each row, whose warps reduce by shuffles; along columns, a warp of columns for each block."""
    threads = 256
    return ReduceSchedule(threads, 32 if problem.axis is Axis.FIRST else threads)


def vectorised(problem: ReduceProblem) -> ReduceSchedule:
    """The widest loads, four of them in flight."""
    return replace(shuffles(problem), vector_width=problem.vector_width("x"), loads_in_flight=4)


def split(problem: ReduceProblem) -> ReduceSchedule:
    """Rows, or strips of columns, shared by as many blocks as fill a device."""
    schedule = vectorised(problem)
    splits = min(_BLOCKS // max(1, schedule.groups(problem)), schedule.tiles(problem))
    return replace(schedule, splits=max(1, splits))


PRESETS: Mapping[str, Callable[[ReduceProblem], Program]] = {
    "serial": emit_serial,
    "tree": emit_tree,
    "shuffles": lambda problem: emit(problem, shuffles(problem)),
    "vectorised": lambda problem: emit(problem, vectorised(problem)),
    "split": lambda problem: emit(problem, split(problem)),
}
