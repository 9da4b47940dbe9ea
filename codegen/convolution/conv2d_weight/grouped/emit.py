"""The program of a schedule for groups of few channels and few filters."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_weight.partials import emit_in_parts
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.program import Program

from .schedule import GroupedWeightSchedule


def emit(problem: Conv2dWeightProblem, schedule: GroupedWeightSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = {
        "group_channels": problem.channels,
        "group_filters": problem.filters,
        "vector_x": schedule.vector_x(problem),
        "vector_grad": schedule.vector_grad(problem),
        "vector_sums": schedule.vector_sums(problem),
    }
    return emit_in_parts(problem, schedule, facts)
