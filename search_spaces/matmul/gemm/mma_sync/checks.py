"""gemm: small problems that prove a schedule by mma.sync in the emulator."""

from __future__ import annotations

from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.matmul.gemm.checks import small_problems


def checks(problem: GemmProblem, schedule: MmaSyncSchedule) -> list[tuple[GemmProblem, MmaSyncSchedule]]:
    """Of blocks that share tiles, two and more share each."""
    return small_problems(problem, schedule, lambda tiles: ceil_div(3 * tiles, 2))
