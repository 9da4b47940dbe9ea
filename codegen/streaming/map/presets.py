"""The ladder of maps, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.program import Program

from .emit import emit, emit_naive
from .problem import MapProblem
from .schedule import MapSchedule

_MOST_LANES = 256


def coalesced(problem: MapProblem) -> MapSchedule:
    """A result at a time; as many threads of a block as a row has results, if these are few."""
    whole = problem.collapsed
    lanes = _MOST_LANES if whole.rows == 1 else of_row(whole.columns)
    return MapSchedule(threads=_MOST_LANES, threads_per_row=lanes)


def vectorised(problem: MapProblem) -> MapSchedule:
    """As many results at a time as 16 bytes of x are, or 16 bytes of results."""
    size = max(problem.dtype.bytes, problem.result.bytes)
    width = WIDEST_ACCESS // size
    schedule = replace(coalesced(problem), vector_width=width)
    whole = problem.collapsed
    return schedule if whole.rows == 1 else replace(schedule, threads_per_row=of_row(-(-whole.columns // width)))


def of_row(vectors: int) -> int:
    """Threads for a row of so many vectors, a power of two."""
    return max(8, min(_MOST_LANES, 1 << max(0, vectors - 1).bit_length()))


PRESETS: Mapping[str, Callable[[MapProblem], Program]] = {
    "naive": emit_naive,
    "coalesced": lambda problem: emit(problem, coalesced(problem)),
    "vectorised": lambda problem: emit(problem, vectorised(problem)),
    "in_flight": lambda problem: emit(problem, replace(vectorised(problem), items=4)),
}
