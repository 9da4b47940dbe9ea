"""The program of a schedule for groups of few channels, to which rows of images are copied."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d.emit import source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap

from .schedule import DepthwiseStagesSchedule


def emit(problem: Conv2dProblem, schedule: DepthwiseStagesSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    stated = problem.layouts["x"]
    images = TensorMap("x", problem.dtype, stated.shape, (*stated.strides, 1), schedule.box(problem))
    return source(problem).scheduled(
        schedule,
        "depthwise_stages/block",
        "conv2d_block",
        facts={"group_channels": problem.channels},
        maps=(Argument("map_x", "TensorMap", tensor_map=images),),
    )
