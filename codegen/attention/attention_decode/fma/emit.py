"""The program of a schedule by fused multiply-adds."""

from __future__ import annotations

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.program import Program

from .schedule import FmaSchedule


def emit(problem: AttentionDecodeProblem, schedule: FmaSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return schedule.program(problem, "fma/fma", "decode_fma_block")
