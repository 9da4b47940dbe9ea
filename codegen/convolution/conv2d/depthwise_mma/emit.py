"""The program of a schedule for groups of few channels by tensor cores."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d.emit import source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.program import Program

from .schedule import DepthwiseMmaSchedule


def emit(problem: Conv2dProblem, schedule: DepthwiseMmaSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = {"group_channels": problem.channels}
    return source(problem).scheduled(schedule, "depthwise_mma/block", "conv2d_block", facts=facts)
