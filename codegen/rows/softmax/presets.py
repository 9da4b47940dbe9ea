"""The ladder of softmax kernels, each rung one idea above the last, and the schedule that a row of some length asks
for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.program import Program
from autotune.codegen.rows.schedule import RowStorage, fitting_row, held_row

from .emit import emit, emit_naive
from .problem import SoftmaxProblem
from .schedule import Passes, SoftmaxSchedule

_WARP_A_ROW = SoftmaxSchedule(threads=128, threads_per_row=32, hold=RowStorage.RELOAD)
_BLOCK_A_ROW = replace(_WARP_A_ROW, threads=256, threads_per_row=256)
_ONLINE = replace(_BLOCK_A_ROW, passes=Passes.ONLINE)


def widest(problem: SoftmaxProblem) -> int:
    """Elements of 16 bytes; rows whose results may not depend on their place do not begin between vectors."""
    return problem.vector_width("x") if problem.batch_invariant else WIDEST_ACCESS // problem.dtype.bytes


def held(problem: SoftmaxProblem, rounds: int, width: int = 0) -> SoftmaxSchedule:
    """A row in registers, of which a thread has about so many vectors of `width` elements, or else of 16 bytes."""
    width = width or widest(problem)
    return held_row(SoftmaxSchedule, problem.columns, width, rounds)


def streamed(problem: SoftmaxProblem) -> SoftmaxSchedule:
    """A row that is read twice, of any length."""
    return replace(_ONLINE, vector_width=widest(problem), loads_in_flight=2)


def _registers(problem: SoftmaxProblem) -> SoftmaxSchedule:
    """Rows in registers, unless a block's registers cannot hold one."""
    return fitting_row(held(problem, 4), streamed(problem), problem)


PRESETS: Mapping[str, Callable[[SoftmaxProblem], Program]] = {
    "naive": emit_naive,
    "warp_a_row": lambda problem: emit(problem, _WARP_A_ROW),
    "block_a_row": lambda problem: emit(problem, _BLOCK_A_ROW),
    "online": lambda problem: emit(problem, _ONLINE),
    "vectorised": lambda problem: emit(problem, streamed(problem)),
    "registers": lambda problem: emit(problem, _registers(problem)),
}
