"""The program of a schedule by the tensor cores of warps."""

from __future__ import annotations

from autotune.codegen.attention.attention.emit import stored_vector
from autotune.codegen.attention.attention.parts import split_program
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.program import Program

from .schedule import PRODUCT, MmaSyncSchedule


def emit(problem: AttentionProblem, schedule: MmaSyncSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    padded = problem.head_dim % PRODUCT > 0 or problem.value_elements % PRODUCT > 0
    return split_program(
        problem,
        schedule,
        schedule.splits,
        "mma_sync/mma_sync",
        "attention_mma_sync_block",
        facts={"stored_vector": stored_vector(problem), "padded": padded, "rescale_rarely": False},
    )
