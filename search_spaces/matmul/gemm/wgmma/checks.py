"""gemm: small problems that prove a schedule by wgmma in the emulator."""

from __future__ import annotations

from functools import partial

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.search_spaces.matmul.gemm.checks import small_problems


def checks(problem: GemmProblem, schedule: WgmmaSchedule) -> list[tuple[GemmProblem, WgmmaSchedule]]:
    """Of blocks that share tiles, all share the one beyond a whole wave, or two share each of few."""

    return small_problems(problem, schedule, partial(_sharing, schedule))


def small_grid(problem: GemmProblem, schedule: WgmmaSchedule) -> int:
    """Blocks of the grid for a small problem, of a schedule with a grid."""
    if schedule.whole_tiles:
        return schedule.cluster
    tiles = schedule.tiles(problem)
    return min(tiles * schedule.steps(problem), _sharing(schedule, tiles))


def _sharing(schedule: WgmmaSchedule, tiles: int) -> int:
    if schedule.cluster_k > 1:
        return 2 * schedule.cluster_k * tiles
    return tiles - 1 if tiles > 2 else 2 * tiles
