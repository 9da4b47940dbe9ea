"""The ladder of scans, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from autotune.codegen.model.program import Program

from .emit import BLELLOCH, HILLIS_STEELE, WARP_SCANS, emit, emit_block_scans, emit_serial
from .look_back.schedule import LookBackSchedule
from .problem import ScanProblem
from .rows.schedule import RowsSchedule


def vectorised(problem: ScanProblem) -> RowsSchedule:
    """A block a row, whose threads have several vectors each."""
    return RowsSchedule(vector_width=problem.widest)


def look_back(problem: ScanProblem) -> LookBackSchedule:
    """A block a tile, which finds what precedes it while others scan theirs."""
    return LookBackSchedule(vector_width=problem.widest)


PRESETS: Mapping[str, Callable[[ScanProblem], Program]] = {
    "serial": emit_serial,
    "hillis_steele": partial(emit_block_scans, method=HILLIS_STEELE),
    "blelloch": partial(emit_block_scans, method=BLELLOCH),
    "warp_scans": partial(emit_block_scans, method=WARP_SCANS),
    "vectorised": lambda problem: emit(problem, vectorised(problem)),
    "look_back": lambda problem: emit(problem, look_back(problem)),
}
