"""The ladder of cross-entropy kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.program import Program
from autotune.codegen.rows.schedule import RowStorage, fitting_row, held_row
from autotune.codegen.rows.softmax.schedule import Passes

from .emit import emit, emit_naive
from .logits_problem import LogitsProblem
from .problem import CrossEntropyProblem
from .schedule import CrossEntropyBackwardSchedule, CrossEntropySchedule

S = TypeVar("S", bound=CrossEntropyBackwardSchedule)


def widest(problem: LogitsProblem) -> int:
    """Elements of 16 bytes; rows whose results may not depend on their place do not begin between vectors."""
    invariant = isinstance(problem, CrossEntropyProblem) and problem.batch_invariant
    return problem.vector_width("x") if invariant else WIDEST_ACCESS // problem.dtype.bytes


def streamed(kind: type[S], problem: LogitsProblem) -> S:
    """A row of any length, which is read again for a gradient."""
    schedule = kind(
        threads=256, threads_per_row=256, vector_width=widest(problem), hold=RowStorage.RELOAD, loads_in_flight=2
    )
    return _online(schedule)


def _online(schedule: S) -> S:
    return replace(schedule, passes=Passes.ONLINE) if isinstance(schedule, CrossEntropySchedule) else schedule


def _registers(kind: type[S], problem: LogitsProblem) -> S:
    """Rows in registers, unless a block's registers cannot hold one."""
    return fitting_row(held_row(kind, problem.columns, widest(problem), 4), streamed(kind, problem), problem)


def _ladder(kind: type[S]) -> dict[str, Callable[[LogitsProblem], Program]]:
    return {
        "naive": emit_naive,
        "vectorised": lambda problem: emit(problem, streamed(kind, problem)),
        "registers": lambda problem: emit(problem, _registers(kind, problem)),
    }


BACKWARD_PRESETS: Mapping[str, Callable[[LogitsProblem], Program]] = _ladder(CrossEntropyBackwardSchedule)
_WARP_A_ROW = CrossEntropySchedule(threads=128, threads_per_row=32, hold=RowStorage.RELOAD)
_BLOCK_A_ROW = replace(_WARP_A_ROW, threads=256, threads_per_row=256)
PRESETS: Mapping[str, Callable[[LogitsProblem], Program]] = {
    "naive": emit_naive,
    "warp_a_row": lambda problem: emit(problem, _WARP_A_ROW),
    "block_a_row": lambda problem: emit(problem, _BLOCK_A_ROW),
    **_ladder(CrossEntropySchedule),
}
