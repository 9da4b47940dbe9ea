"""The program of a schedule for groups of one channel."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_planes.emit import source
from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.codegen.model.program import Program

from .schedule import DirectSchedule


def emit(problem: Conv2dPlanesProblem, schedule: DirectSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return source(problem).scheduled(schedule, "direct/block", "conv2d_planes_block")
