"""A LogitsProblem and LossSplitSchedule → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.program import Program
from autotune.codegen.rows.cross_entropy.emit import loss_source
from autotune.codegen.rows.cross_entropy.logits_problem import LogitsProblem
from autotune.codegen.rows.vectors import served, vector_facts
from autotune.codegen.source.kernel_source import Entry

from .schedule import LossSplitSchedule


def emit(problem: LogitsProblem, schedule: LossSplitSchedule) -> Program:
    """The source of a schedule that is legal for the problem: the sums of pieces, and then what they are for."""
    source, piece = replace(loss_source(problem), workspace=True), schedule.piece
    blocks = schedule.blocks(problem) if problem.has_gradient else problem.rows
    return source.scheduled(
        schedule,
        "split/split",
        "sum_piece",
        Entry(f"{source.entry}_end", "end_row", blocks, schedule.footprint(problem)),
        facts=vector_facts(problem, piece),
        served=served(problem, piece, source.served),
        workspace_bytes=schedule.workspace_bytes(problem),
    )
