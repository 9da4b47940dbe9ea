"""The ladder of softmax_backward's kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program
from autotune.codegen.rows.schedule import RowStorage, fitting_row, held_row

from .emit import emit, emit_naive
from .problem import SoftmaxBackwardProblem
from .schedule import SoftmaxBackwardSchedule

_BLOCK_A_ROW = SoftmaxBackwardSchedule(threads=256, threads_per_row=256, hold=RowStorage.RELOAD)


def widest(problem: SoftmaxBackwardProblem) -> int:
    """Elements of the widest vectors that the arrays are aligned for together; rows may begin between them."""
    return problem.align_x // problem.dtype.bytes


def streamed(problem: SoftmaxBackwardProblem) -> SoftmaxBackwardSchedule:
    """Rows that are read twice, of any length."""
    return replace(_BLOCK_A_ROW, vector_width=widest(problem), loads_in_flight=2)


def _registers(problem: SoftmaxBackwardProblem) -> Program:
    """Rows in registers, unless a block's registers cannot hold one of each array."""
    held = held_row(SoftmaxBackwardSchedule, problem.columns, widest(problem), 2)
    return emit(problem, fitting_row(held, streamed(problem), problem))


PRESETS: Mapping[str, Callable[[SoftmaxBackwardProblem], Program]] = {
    "naive": emit_naive,
    "block_a_row": lambda problem: emit(problem, _BLOCK_A_ROW),
    "vectorised": lambda problem: emit(problem, streamed(problem)),
    "registers": _registers,
}
