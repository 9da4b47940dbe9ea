"""The ladder of norm kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.program import Program
from autotune.codegen.rows.schedule import RowStorage, fitting_row, held_row

from .emit import emit, emit_naive
from .problem import NormProblem
from .schedule import LayerNormSchedule, Passes, RmsNormSchedule

S = TypeVar("S", bound=RmsNormSchedule)


def widest(problem: NormProblem) -> int:
    """Elements of 16 bytes; with a residual, no more than rows of all arrays are surely aligned for together.

    Rows whose results may not depend on their place do not begin between vectors.
    """
    if problem.batch_invariant:
        return problem.vector_width("x")
    width = WIDEST_ACCESS // problem.dtype.bytes
    return min(width, problem.align_x // problem.dtype.bytes) if problem.residual else width


def streamed(kind: type[S], problem: NormProblem) -> S:
    """A row that is read again, of any length."""
    return kind(
        threads=256, threads_per_row=256, vector_width=widest(problem), hold=RowStorage.RELOAD, loads_in_flight=2
    )


def _warp_a_row(kind: type[S]) -> S:
    return kind(threads=128, threads_per_row=32, hold=RowStorage.RELOAD)


def _registers(kind: type[S], problem: NormProblem) -> S:
    """Rows in registers, unless a block's registers cannot hold one."""
    return fitting_row(held_row(kind, problem.columns, widest(problem), 4), streamed(kind, problem), problem)


def _ladder(kind: type[S]) -> dict[str, Callable[[NormProblem], Program]]:
    warp = _warp_a_row(kind)
    return {
        "naive": emit_naive,
        "warp_a_row": lambda problem: emit(problem, warp),
        "block_a_row": lambda problem: emit(problem, replace(warp, threads=256, threads_per_row=256)),
        "vectorised": lambda problem: emit(problem, streamed(kind, problem)),
        "registers": lambda problem: emit(problem, _registers(kind, problem)),
    }


RMS_PRESETS: Mapping[str, Callable[[NormProblem], Program]] = _ladder(RmsNormSchedule)
LAYER_PRESETS: Mapping[str, Callable[[NormProblem], Program]] = _ladder(LayerNormSchedule) | {
    "welford": lambda problem: emit(problem, replace(streamed(LayerNormSchedule, problem), passes=Passes.WELFORD))
}
