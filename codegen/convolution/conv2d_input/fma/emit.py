"""The program of a schedule by FFMAs."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_input.emit import GATHERED, source
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.convolution.source import fma_facts
from autotune.codegen.model.program import Program

from .schedule import FmaInputSchedule


def emit(problem: Conv2dInputProblem, schedule: FmaInputSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    product = problem.sgemm
    facts = GATHERED | fma_facts(product, schedule, guard_m=True, guard_n=True)  # also for what lies outside
    return source(problem).scheduled(
        schedule,
        "fma/block",
        "conv2d_input_block",
        facts=facts,
        types=["using Index = int;"],
        workspace_bytes=schedule.workspace_bytes(product),
    )
