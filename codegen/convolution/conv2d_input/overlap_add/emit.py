"""The program of a schedule for images of few channels."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_input.emit import source
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.program import Program

from .schedule import OverlapAddSchedule


def emit(problem: Conv2dInputProblem, schedule: OverlapAddSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    facts = {
        "image_channels": problem.in_channels,
        "image_filters": problem.out_channels,
        "seen_pixels": schedule.pixels(problem),
        "pass_columns": schedule.pass_columns(problem),
        "row_elements": schedule.row_elements(problem),
        "sum_pitch": schedule.sum_pitch(problem),
    }
    return source(problem).scheduled(schedule, "overlap_add/block", "conv2d_input_block", facts=facts)
