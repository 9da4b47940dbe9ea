"""The presets of transpose, each with one idea more than the last.

After Harris, An Efficient Matrix Transpose in CUDA C/C++, 2013.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import TransposeProblem
from .schedule import TransposeSchedule

_SHARED = TransposeSchedule(tile_m=32, tile_n=32, rows_per_thread=4)
_SWIZZLED = replace(_SHARED, swizzle=True)
# Sides of tiles by element size: rows of 128 bytes or more on both sides are whole cache lines.
_SIDES = {1: 128, 2: 64, 4: 64, 8: 32, 16: 32}
_MOST_THREADS = 512


def vectorised(problem: TransposeProblem) -> TransposeSchedule:
    """Accesses as wide as the problem is aligned for, in a square tile."""
    load, store = problem.vector_width("a"), problem.vector_width("b")
    side = min(_SIDES[problem.element_bytes], 64 * min(load, store))
    rows = max(4, store, side * side // (load * _MOST_THREADS))
    return TransposeSchedule(side, side, rows, load, store, swizzle=True)


def _padded(problem: TransposeProblem) -> TransposeSchedule:
    return replace(_SHARED, pad=_SHARED.group_shift(problem.element_bytes))


SCHEDULES: Mapping[str, Callable[[TransposeProblem], TransposeSchedule]] = {
    "shared": lambda problem: _SHARED,
    "padded": _padded,
    "swizzled": lambda problem: _SWIZZLED,
    "vectorised": vectorised,
}


def _emitted(schedule: Callable[[TransposeProblem], TransposeSchedule]) -> Callable[[TransposeProblem], Program]:
    return lambda problem: emit(problem, schedule(problem))


PRESETS: Mapping[str, Callable[[TransposeProblem], Program]] = {
    "naive": emit_naive,
    **{name: _emitted(schedule) for name, schedule in SCHEDULES.items()},
}
