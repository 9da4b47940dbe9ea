"""The program of a schedule for channels that are groups of their own."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_weight.partials import emit_in_parts
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.program import Program

from .schedule import DepthwiseWeightSchedule


def emit(problem: Conv2dWeightProblem, schedule: DepthwiseWeightSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    return emit_in_parts(problem, schedule)
