"""The ladder of selections, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program
from autotune.codegen.selection.vectors import vectors_of_row

from .emit import emit, emit_naive
from .problem import TopkProblem
from .stream.schedule import StreamSchedule

_BLOCKS = 512  # that a split is for, a few for each SM of a large device
_LEAST_VECTORS = 512  # of a block


def counted(problem: TopkProblem) -> StreamSchedule:
    """Radix selection: digits of all elements are counted, from the first one on, until few are left."""
    candidates = max(2048, 1 << problem.k.bit_length())
    return StreamSchedule(vector_width=problem.widest, candidates=candidates, samples=0)


def sampled(problem: TopkProblem) -> StreamSchedule:
    """One read of a row keeps what passes a floor that a sample gave."""
    return replace(counted(problem), samples=1)


def split(problem: TopkProblem) -> StreamSchedule:
    """Several blocks for a row, as many as fill a device."""
    most = vectors_of_row(problem, problem.widest) // _LEAST_VECTORS
    return replace(sampled(problem), splits=max(1, min(_BLOCKS // max(1, problem.rows), most)))


PRESETS: Mapping[str, Callable[[TopkProblem], Program]] = {
    "naive": emit_naive,
    "counted": lambda problem: emit(problem, counted(problem)),
    "sampled": lambda problem: emit(problem, sampled(problem)),
    "split": lambda problem: emit(problem, split(problem)),
}
