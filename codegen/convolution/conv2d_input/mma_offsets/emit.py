"""The program of a schedule by mma.sync."""

from __future__ import annotations

from autotune.codegen.convolution.conv2d_input.emit import GATHERED, source
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.matmul.gemm.source_facts import edges_of
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Specialize

from .schedule import MmaOffsetsInputSchedule


def emit(problem: Conv2dInputProblem, schedule: MmaOffsetsInputSchedule) -> Program:
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
        "conv2d_input_block",
        facts={**edges_of(problem.product, schedule), **GATHERED, **chosen},
        workspace_bytes=schedule.workspace_bytes(problem.product),
    )
