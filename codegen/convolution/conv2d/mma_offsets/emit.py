"""The program of a schedule by mma.sync."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d.emit import source
from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.matmul.gemm.source_facts import edges_of
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize

from .schedule import MmaOffsetsSchedule


def emit(problem: Conv2dProblem, schedule: MmaOffsetsSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    chosen = {
        "gathered_a": True,
        "gathered_b": False,
        "clusters": False,
        "specialized": schedule.specialize is Specialize.SHAPE,
        "by_column": False,
        "held_columns": False,
        "ragged_b": False,  # rows of the weight lie one behind the other
    }
    return source(problem).scheduled(
        schedule,
        "mma_offsets/block",
        "conv2d_block",
        facts={**edges_of(problem.product, schedule), **chosen},
        workspace_bytes=schedule.workspace_bytes(problem.product),
    )
