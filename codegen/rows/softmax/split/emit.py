"""SoftmaxProblem and SplitSchedule → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.program import Program
from autotune.codegen.rows.softmax.emit import formula, kernel_source, served_rows
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.kernel_source import Entry

from .schedule import SplitSchedule

_WRITE = "softmax_write"


def emit(problem: SoftmaxProblem, schedule: SplitSchedule) -> Program:
    """The source of a schedule that is legal for the problem: the sums of pieces, and then what they are for."""
    rows = served(problem, schedule.piece, served_rows(problem))
    write = Entry(_WRITE, "write_piece", schedule.blocks(problem), schedule.footprint(problem))
    return replace(kernel_source(problem), workspace=True).scheduled(
        schedule,
        "split/split",
        "sum_piece",
        write,
        facts=vector_facts(problem, schedule.piece),
        served=f"{formula(problem)} of rows, for {rows}",
        workspace_bytes=schedule.workspace_bytes(problem),
    )
