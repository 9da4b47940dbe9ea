"""What proves a schedule of an operator that reads rows and writes rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from ...codegen.integers import ceil_div, round_up
from ...codegen.rows.norm.problem import NormProblem
from ...codegen.rows.schedule import RowSchedule
from ...codegen.rows.softmax.problem import SoftmaxProblem

P = TypeVar("P", bound=SoftmaxProblem | NormProblem)
S = TypeVar("S", bound=RowSchedule)


def row_checks(problem: P, schedule: S, rounds: int) -> list[tuple[P, S]]:
    """Whole rounds; and a row and a round that are partly there, no better aligned than needed, or than the problem.

    Args:
        problem, schedule: what is proved.
        rounds: that a thread takes for a row of the problem; two of them prove as much as more.
    """
    width = schedule.vector_width
    rows, columns = schedule.rows_per_block, min(2, rounds) * schedule.row_step
    part = max(1, columns - schedule.row_step // 2 - 1)
    leading = round_up(part, width) + width
    align = width * problem.dtype.bytes
    alike = replace(problem, rows=2 * rows, columns=columns, ldx=0, ldy=0)
    ragged = replace(
        alike,
        rows=rows + ceil_div(rows, 2),
        columns=part,
        ldx=leading + problem.ldx % width,
        ldy=leading + problem.ldy % width,
        align_x=min(align, problem.align_x),
        align_y=min(align, problem.align_y),
    )
    return [(alike, schedule), (ragged, schedule)]
