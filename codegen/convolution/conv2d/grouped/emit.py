"""The program of a schedule for groups of few channels and few filters."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d.emit import source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.program import Program

from .schedule import GroupedSchedule


def emit(problem: Conv2dProblem, schedule: GroupedSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = {
        "group_channels": problem.channels,
        "group_filters": problem.filters,
        "vector_x": schedule.vector_x(problem),
        "vector_d": schedule.vector_d(problem),
    }
    return source(problem).scheduled(schedule, "grouped/block", "conv2d_block", facts=facts)
