"""gemm: which schedules by mma.sync to try first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemm.order import fastest_first
from autotune.search_spaces.matmul.gemm.preparation import copies
from autotune.search_spaces.matmul.gemm.tiling import grids
from autotune.search_spaces.matmul.gemm.wgmma.space import has_wgmma, unready

from .space import fitted, on_grid
from .workload import workload


def _schedule(block: tuple[int, int, int], warp: tuple[int, int], stages: int, blocks_per_sm: int) -> MmaSyncSchedule:
    return MmaSyncSchedule(
        block_m=block[0], block_n=block[1], block_k=block[2], warp_m=warp[0], warp_n=warp[1],
        stages=stages, min_blocks_per_sm=blocks_per_sm,
    )  # fmt: skip


# Best guess first where all fill the device: a warp's tile of 64×64 loads least for each product.
_LARGE = (
    _schedule((128, 256, 64), (64, 64), 4, 1),
    _schedule((128, 128, 64), (64, 64), 3, 2),
    _schedule((256, 128, 64), (64, 64), 4, 1),
    _schedule((128, 128, 32), (64, 64), 4, 2),
    _schedule((128, 256, 32), (64, 64), 4, 1),
    _schedule((128, 128, 64), (64, 32), 3, 1),
    _schedule((128, 64, 64), (64, 32), 4, 2),
)
_MEDIUM = (
    _schedule((64, 128, 64), (32, 64), 4, 2),
    _schedule((64, 64, 64), (32, 32), 6, 3),
    _schedule((64, 64, 64), (32, 32), 4, 2),
)
# Few rows or columns: the other side is what is read.
_FEW_ROWS = (
    _schedule((64, 64, 128), (32, 32), 4, 2),
    _schedule((32, 64, 128), (32, 16), 6, 2),
    _schedule((16, 64, 128), (16, 16), 6, 3),
    _schedule((16, 128, 64), (16, 32), 6, 2),
)
_FEW_COLUMNS = (
    _schedule((64, 32, 128), (16, 32), 6, 2),
    _schedule((64, 16, 128), (16, 16), 6, 3),
)


_BUSY = 0.75  # share of the SMs with a tile that is enough
_BESIDE_WGMMA = 3
# Steps of a tile that are worth dividing: on an H200, 3000x3000x33 of bfloat16, of two steps, took 73 µs in as many
# blocks as SMs, and 22 µs in a block for each tile.
_DIVISIBLE = 6


@lru_cache(maxsize=8)  # as of wgmma
def candidates(problem: GemmProblem, spec: DeviceSpec) -> tuple[MmaSyncSchedule, ...]:
    """By modelled time; few beside wgmma that needs no copies: it is seldom slower and takes less time to compile."""
    found = tuple(by_mma_sync(problem, spec))
    return found[:_BESIDE_WGMMA] if has_wgmma(problem, spec) and not unready(problem) else found


def by_mma_sync(problem: GemmProblem, spec: DeviceSpec) -> list[MmaSyncSchedule]:
    """By modelled time, as if there was no other kernel."""
    return fastest_first(problem, _likely(problem, spec), spec, workload)


def _likely(problem: GemmProblem, spec: DeviceSpec) -> Iterator[MmaSyncSchedule]:
    """Tiles as large as leave a block for each SM, then smaller ones; each with the grids that may suit it.

    Unaligned operands are taken as they are, or copied first.
    """
    for number, prepared in enumerate(copies(problem)):
        for index, schedule in enumerate(_tiles(problem, spec, prepared)):
            for grid in _grids(problem, schedule, spec):
                yield on_grid(problem, spec, schedule, grid)
            if index == 0 and number == 0:
                yield replace(schedule, specialize=Specialize.SHAPE)


def _tiles(problem: GemmProblem, spec: DeviceSpec, fields: Mapping[str, Any]) -> list[MmaSyncSchedule]:
    listed = [*_LARGE, *_MEDIUM]
    if problem.m <= 64:
        few = [one for one in _FEW_ROWS if one.block_m < 2 * max(16, problem.m)]
        listed = [*few, *_MEDIUM]
    elif problem.n <= 32:
        listed = [*(one for one in _FEW_COLUMNS if one.block_n < 2 * max(16, problem.n)), *_MEDIUM]
    scaled = (replace(one, block_k=_terms(problem, one.block_k * 2 // problem.dtype.bytes)) for one in listed)
    fitting = dict.fromkeys(fitted(problem, replace(one, **fields), spec) for one in scaled)
    return sorted(fitting, key=lambda one: _idleness(problem, one, spec))


def _terms(problem: GemmProblem, block_k: int) -> int:
    """Terms of a step, fewer than twice those of the product: threads copy the zeros behind these, too."""
    while block_k >= 2 * problem.k > 0:
        block_k //= 2
    return block_k


def _idleness(problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> tuple[float, int]:
    """The share of the device without a tile, if it is more than a quarter; then small tiles come first."""
    busy = schedule.tiles(problem) / spec.sm_count
    return (0.0, 0) if busy >= _BUSY else (1 - busy, schedule.block_m * schedule.block_n)


def _grids(problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> list[str]:
    """As the space knows them, best guess first."""
    if schedule.steps(problem) < _DIVISIBLE:
        return ["tiles"]
    known = grids(problem, spec)
    tiles = max(1, schedule.tiles(problem))
    resident = schedule.min_blocks_per_sm
    waves = tiles / (spec.sm_count * resident)
    if waves >= 1:
        return ["tiles", f"SMs·{resident}"]
    splits = ceil_div(spec.sm_count * resident, tiles)
    near = [f"tiles·{split}" for split in (2, 3, 4, 6, 8, 12, 16) if splits / 2 <= split <= splits]
    chosen = [grid for grid in reversed(near) if grid in known][:1]
    return [*chosen, f"SMs·{resident}", "tiles"]
