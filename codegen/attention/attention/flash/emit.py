"""The program of a schedule by fused multiply-adds."""

from __future__ import annotations

from autotune.codegen.attention.attention.emit import source_of
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.program import Program

from .schedule import FlashSchedule


def emit(problem: AttentionProblem, schedule: FlashSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return source_of(problem).scheduled(schedule, "flash/flash", "attention_flash_block")
