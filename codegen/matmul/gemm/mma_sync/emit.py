"""The program of a schedule by mma.sync."""

from __future__ import annotations

from autotune.codegen.matmul.gemm.emit import scheduled
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.model.program import Program

from .schedule import MmaSyncSchedule


def emit(problem: GemmProblem, schedule: MmaSyncSchedule) -> Program:
    """The source of a schedule that is legal for the problem."""
    left = product(problem, schedule)
    # Rows that were prepared end with zeros, which complete a vector.
    ragged = {
        f"ragged_{operand}": getattr(schedule, f"prepare_{operand}") is Prepare.NONE
        and left.stored[operand][1] % getattr(schedule, f"vector_{operand}") != 0
        for operand in "ab"
    }
    return scheduled(problem, schedule, "gemm_block", {**ragged, "held_columns": False})
