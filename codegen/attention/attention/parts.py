"""Schedules some of whose blocks share the keys of a tile of queries."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.fragments.extremes import extremes_entry, extremes_first, extremes_part
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
    """The program of a schedule; with a launch ahead for a mask that reads integers, and if blocks share the keys of a
    tile, with the launch that adds what they leave.

    Args:
        problem: what is computed.
        schedule: which is legal for it.
        splits: blocks that share the keys of a tile.
        header, function, stated: see `KernelSource.scheduled`.
    """
    entries, parts = list[Entry](), dict[str, int]()
    if splits > 1:
        entries += [Entry("attention_sums", "attention_sums_block", sums_blocks(problem), sums_footprint())]
        parts |= {"partials": DType.FLOAT32.bytes * partials(problem, splits)}
    if problem.ranged:
        entries += [extremes_entry(problem.integers_count)]
        parts |= extremes_part(problem.integers_count)
    program = source_of(problem, partials=splits > 1).scheduled(schedule, header, function, *entries, **stated)
    program = extremes_first(program)
    return program.in_workspace(**parts) if parts and not problem.empty else program


def partials(problem: AttentionProblem, splits: int) -> int:
    """Numbers that as many blocks leave of all rows."""
    return splits * problem.rows * (problem.value_elements + _STATE)


def sums_blocks(problem: AttentionProblem) -> int:
    """Blocks of the launch that adds them."""
    return ceil_div(problem.rows * problem.value_elements, _SUMS_THREADS)


def sums_footprint() -> Footprint:
    """Of each of these."""
    return Footprint(_SUMS_THREADS)
