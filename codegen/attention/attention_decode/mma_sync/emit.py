"""The program of a schedule by the tensor cores of warps."""

from __future__ import annotations

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.program import Program

from .schedule import MmaSyncSchedule


def emit(problem: AttentionDecodeProblem, schedule: MmaSyncSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = {"values_in_keys": schedule.values_in_keys(problem), "rescale_rarely": False}
    return schedule.program(problem, "mma_sync/mma_sync", "decode_mma_sync_block", facts=facts)
