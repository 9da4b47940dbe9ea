"""NormProblem and NormSplitSchedule → Program."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.model.program import Program
from autotune.codegen.rows.norm.emit import norm_facts, norm_source
from autotune.codegen.rows.norm.problem import NormProblem
from autotune.codegen.rows.vectors import served
from autotune.codegen.source.kernel_source import Entry

from .schedule import NormSplitSchedule


def emit(problem: NormProblem, schedule: NormSplitSchedule) -> Program:
    """The source of a schedule that is legal for the problem: the sums of pieces, and then what they are for."""
    source, piece = replace(norm_source(problem), workspace=True), schedule.piece
    blocks, footprint = schedule.blocks(problem), schedule.footprint(problem)
    return source.scheduled(
        schedule,
        "split/split",
        "sum_piece",
        Entry(f"{source.entry}_write", "write_piece", blocks, footprint),
        facts=norm_facts(problem, piece),
        served=served(problem, piece, source.served),
        workspace_bytes=schedule.workspace_bytes(problem),
    )
