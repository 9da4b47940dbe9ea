"""The ladder of scans, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from autotune.codegen.model.program import Program

from .emit import BLELLOCH, HILLIS_STEELE, WARP_SCANS, emit, emit_block_scans, emit_serial
from .problem import ScanProblem
from .schedule import Algorithm, ScanSchedule


def vectorised(problem: ScanProblem) -> ScanSchedule:
    """A block a row, whose threads have several vectors each."""
    return ScanSchedule(Algorithm.ROWS, vector_width=problem.widest)


def look_back(problem: ScanProblem) -> ScanSchedule:
    """A block a tile, which finds what precedes it while others scan theirs."""
    return ScanSchedule(Algorithm.LOOK_BACK, vector_width=problem.widest)


PRESETS: Mapping[str, Callable[[ScanProblem], Program]] = {
    "serial": emit_serial,
    "hillis_steele": partial(emit_block_scans, method=HILLIS_STEELE),
    "blelloch": partial(emit_block_scans, method=BLELLOCH),
    "warp_scans": partial(emit_block_scans, method=WARP_SCANS),
    "vectorised": lambda problem: emit(problem, vectorised(problem)),
    "look_back": lambda problem: emit(problem, look_back(problem)),
}
