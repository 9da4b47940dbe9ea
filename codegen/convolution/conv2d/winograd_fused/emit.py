"""The program of a schedule whose blocks transform what they multiply."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.convolution.conv2d.emit import ENTRY
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d.winograd.emit import transforming
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program

from .schedule import FiltersSchedule, WinogradFusedSchedule


def emit(problem: Conv2dProblem, schedule: WinogradFusedSchedule) -> Program:
    """Two launches: the transform of the filters, and all else."""
    own, facts, text = transforming(problem, "transformed_filters")
    ahead = replace(own, entry=f"{ENTRY}_transform").scheduled(
        FiltersSchedule(), "winograd_fused/filters", "transform_filters", facts=facts, text=text
    )
    program = ahead.then(own.scheduled(schedule, "winograd_fused/block", "conv2d_block", facts=facts, text=text))
    _, size, _ = problem.transformed_sizes
    return program.in_workspace(transformed_filters=DType.FLOAT32.bytes * max(1, size))
