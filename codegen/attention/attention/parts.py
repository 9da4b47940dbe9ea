"""Schedules some of whose blocks share the keys of a tile of queries."""

from __future__ import annotations

from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.codegen.source.kernel_source import Entry

from .emit import source_of
from .problem import AttentionProblem

SPLITS = (1, 2, 4, 8, 16, 32)  # blocks that share the keys of a tile
_STATE = 2  # numbers of a row beside its sums of values: the largest logit, and the sum of weights
_SUMS_THREADS = 256  # of parts.cuh


def split_program(
    problem: AttentionProblem, schedule: Schedule, splits: int, header: str, function: str, **stated: Any
) -> Program:
    """The program of a schedule; if blocks share the keys of a tile, with the launch that adds what they leave.

    Args:
        problem: what is computed.
        schedule: which is legal for it.
        splits: blocks that share the keys of a tile.
        header, function, stated: see `KernelSource.scheduled`.
    """
    if splits == 1:
        return source_of(problem).scheduled(schedule, header, function, **stated)
    sums = Entry("attention_sums", "attention_sums_block", sums_blocks(problem), sums_footprint())
    program = source_of(problem, partials=True).scheduled(schedule, header, function, sums, **stated)
    return program if problem.empty else program.in_workspace(partials=DType.FLOAT32.bytes * partials(problem, splits))


def partials(problem: AttentionProblem, splits: int) -> int:
    """Numbers that as many blocks leave of all rows."""
    return splits * problem.rows * (problem.value_elements + _STATE)


def sums_blocks(problem: AttentionProblem) -> int:
    """Blocks of the launch that adds them."""
    return ceil_div(problem.rows * problem.value_elements, _SUMS_THREADS)


def sums_footprint() -> Footprint:
    """Of each of these."""
    return Footprint(_SUMS_THREADS)
