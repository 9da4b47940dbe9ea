"""gemm: the grids and the steps along k that all kernels know."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule
from autotune.codegen.model.hardware import LINE_BYTES
from autotune.codegen.model.integers import INT_MAX, ceil_div, round_up, smallest
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import group_violations

_BLOCK_KS = (16, 32, 64, 128)  # of elements of 2 bytes
_WORKSPACE_BYTES = 2**30
_LEAST_STEPS = 4  # along k of a part of a tile that blocks share


def block_ks(problem: GemmProblem) -> tuple[int, ...]:
    """Terms in a stage, as many bytes for all types."""
    return tuple(value * 2 // problem.dtype.bytes for value in _BLOCK_KS)


def grids(problem: GemmProblem, spec: DeviceSpec) -> tuple[str, ...]:
    """A block for each tile, some for each SM, or several for each tile while tiles of 64×64 leave SMs idle."""
    tiles = ceil_div(problem.m, 64) * ceil_div(problem.n, 64) * problem.batch
    useful = min(problem.k // (64 * _LEAST_STEPS), 4 * spec.sm_count // max(1, tiles))
    splits = (split for split in (2, 3, 4, 6, 8, 12, 16) if split <= useful)
    return ("tiles", *(f"SMs·{blocks}" for blocks in (1, 2, 3, 4)), *(f"tiles·{split}" for split in splits))


def grid_violations(problem: GemmProblem, schedule: GemmSchedule) -> Iterator[str]:
    """Grids that are too large, and blocks that would have nothing to do."""
    tiles, steps, blocks = schedule.tiles(problem), schedule.steps(problem), schedule.grid_blocks
    if tiles * schedule.cluster + blocks > INT_MAX:  # a block counts on to a tile behind the last one
        yield f"{tiles * schedule.cluster} tiles and grid_blocks {blocks} over the {INT_MAX} blocks of a grid"
    yield from group_violations(schedule.raster_group, ceil_div(problem.n, schedule.block_n))
    if schedule.whole_tiles and not 0 < blocks <= tiles * schedule.cluster:
        yield f"{blocks} blocks for {tiles * schedule.cluster} whole tiles: expected 1 to as many"
    elif blocks > tiles * steps > 0:
        yield f"{blocks} blocks over the {tiles * steps} steps along k of all tiles"
    # The kernel counts the steps of shared tiles, fewer than two waves of them, in 31 bits.
    if min(tiles, 2 * blocks) * steps > INT_MAX:
        yield f"grid_blocks {blocks} with {steps} steps along k a tile is over {INT_MAX} steps"
    workspace = schedule.workspace_bytes(problem)
    if workspace > _WORKSPACE_BYTES:
        yield f"a workspace of {workspace} bytes over {_WORKSPACE_BYTES}"


def share_inside(size: int, block: int) -> float:
    """The share of tiles that is in the matrix; what lies outside is not read."""
    return size / round_up(size, block) if size else 0.0


def straddling(problem: GemmProblem, operand: str, width: int, extent: int) -> float:
    """The share of pieces of rows, of so many bytes, that lie in two cache lines.

    Args:
        problem: the one that is multiplied.
        operand: ``a`` or ``b``.
        width: bytes of a piece, at most a line.
        extent: rows or columns of a tile: of an operand that lies across k, pieces begin at multiples of as many.
    """
    size = problem.dtype.bytes
    pitch = problem.layout_of(operand)[0] * size
    apart = pitch | (LINE_BYTES if problem.along_k(operand) else extent * size)
    return (smallest(width, pitch) - smallest(width, pitch, apart & -apart)) / LINE_BYTES
