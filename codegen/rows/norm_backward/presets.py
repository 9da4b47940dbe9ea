"""The ladder of norm_backward's kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from autotune.codegen.model.program import Program
from autotune.codegen.rows.schedule import RowStorage, held_row

from .emit import emit, emit_naive
from .problem import NormBackwardProblem
from .schedule import NormBackwardSchedule

_MOST_WORDS = 96  # words of vectors and sums of a thread that holds a row


def held(problem: NormBackwardProblem, rounds: int) -> NormBackwardSchedule:
    """A row in registers, of which a thread has about so many of the widest vectors."""
    return held_row(NormBackwardSchedule, problem.columns, problem.width, rounds)


def streamed(problem: NormBackwardProblem) -> NormBackwardSchedule:
    """A row that is read again, of any length."""
    return NormBackwardSchedule(threads=256, threads_per_row=256, vector_width=problem.width, hold=RowStorage.RELOAD)


def _block_a_row(problem: NormBackwardProblem) -> Program:
    return emit(problem, replace(streamed(problem), vector_width=1))


def _registers(problem: NormBackwardProblem) -> Program:
    """Rows in registers, unless a thread's registers cannot hold its part."""
    schedule = held(problem, 2)
    fits = schedule.footprint(problem).registers <= _MOST_WORDS and schedule.threads <= 512
    return emit(problem, schedule if fits else streamed(problem))


PRESETS: Mapping[str, Callable[[NormBackwardProblem], Program]] = {
    "naive": emit_naive,
    "block_a_row": _block_a_row,
    "vectorised": lambda problem: emit(problem, streamed(problem)),
    "registers": _registers,
}
