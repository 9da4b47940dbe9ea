"""The program of a schedule by fused multiply-adds."""

from __future__ import annotations

from autotune.codegen.attention.attention.emit import scheduled
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.program import Program

from .schedule import FlashSchedule


def emit(problem: AttentionProblem, schedule: FlashSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    header = "attention/attention/flash/flash.cuh"
    return scheduled(problem, schedule, header, "attention_flash_block", schedule.blocks(problem))
