"""The program of a schedule by mma.sync."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_weight.emit import GATHERED, source
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.matmul.gemm.source_facts import edges_of
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize

from .schedule import MmaOffsetsWeightSchedule


def emit(problem: Conv2dWeightProblem, schedule: MmaOffsetsWeightSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    chosen = {
        "clusters": False,
        "specialized": schedule.specialize is Specialize.SHAPE,
        "by_column": False,
        "held_columns": False,
    }
    return source(problem).scheduled(
        schedule,
        "mma_offsets/block",
        "conv2d_weight_block",
        facts={**edges_of(problem.product, schedule), **GATHERED, **chosen},
        workspace_bytes=schedule.workspace_bytes(problem.product),
    )
