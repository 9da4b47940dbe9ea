"""The program of a schedule by the tensor cores of warps."""

from __future__ import annotations

from autotune.codegen.attention.attention_backward.emit import passes
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import Entry

from .schedule import PRODUCT, MmaSyncSchedule


def emit(problem: AttentionBackwardProblem, schedule: MmaSyncSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    padded = problem.head_dim % PRODUCT > 0 or problem.value_elements % PRODUCT > 0
    blocks, footprint = schedule.blocks(problem), schedule.footprint(problem)
    values = Entry("attention_backward_values", "attention_backward_values_block", blocks, footprint)
    of_queries = schedule.query_blocks(problem), schedule.query_footprint(problem)
    queries = Entry("attention_backward_queries", "attention_backward_queries_block", *of_queries)
    others = (queries,) if schedule.together else (values, queries)
    return passes(problem, schedule, "mma_sync/mma_sync", others, facts={"padded": padded})
