"""What proves a schedule of an operator that reads rows and writes rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.rows.problem import RowProblem
from autotune.codegen.rows.schedule import RowSchedule

P = TypeVar("P", bound=RowProblem)
S = TypeVar("S", bound=RowSchedule)


def row_checks(problem: P, schedule: S) -> list[tuple[P, S]]:
    """Whole rounds; and a row and a round that are partly there, no better aligned than needed, or than the problem.

    Two rounds of a thread prove as much as more.
    """
    width = schedule.vector_width
    rows, columns = schedule.rows_per_block, min(2, schedule.rounds_in(problem)) * schedule.row_step
    part = max(1, columns - schedule.row_step // 2 - 1)
    leading = round_up(part, width) + width
    align = width * problem.dtype.bytes
    layouts = {operand: problem.layout_of(operand) for operand in problem.stored}
    dense: Any = {f"ld{operand}": 0 for operand in layouts}
    apart: Any = {f"ld{operand}": leading + ld % width for operand, (ld, _, _) in layouts.items()}
    apart |= {f"align_{operand}": min(align, aligned) for operand, (_, _, aligned) in layouts.items()}
    alike = replace(problem, rows=2 * rows, columns=columns, **dense)
    ragged = replace(problem, rows=rows + ceil_div(rows, 2), columns=part, **apart)
    return [(alike, schedule), (ragged, schedule)]
