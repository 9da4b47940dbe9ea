"""Which sgemm schedules to try first, as measured on an H200, and which to take where nothing was measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...codegen.schedule import Specialize
from ...codegen.sgemm.presets import fitted
from ...codegen.sgemm.problem import SgemmProblem
from ...codegen.sgemm.schedule import FfmaOrder, LaneMap, SgemmSchedule, Transport
from ..limits import DeviceLimits
from .legal import violations
from .space import clusters, grid_blocks
from .waves import filling

_BASE = SgemmSchedule(block_k=16, pad_a=8, transport_b=Transport.ASYNC_COPY)
# From large to small, for problems that a larger one would not fill the device with.
_CUSTOMARY = (
    _BASE,
    replace(_BASE, block_n=64),
    replace(_BASE, block_m=64, block_n=64, min_blocks=2),
    replace(_BASE, block_m=32, block_n=64, thread_m=4, warp_m=16),
    replace(_BASE, block_m=16, block_n=64, block_k=32, thread_m=4, thread_n=4, warp_m=16, warp_n=32, pad_a=4),
)


@dataclass(frozen=True)
class _Seed:
    """A schedule and the grids to try it with: blocks for each SM."""

    schedule: SgemmSchedule
    blocks: tuple[int, ...]


def _streamed(
    block: tuple[int, int, int], warp: tuple[int, int], thread: tuple[int, int], **others: Any
) -> SgemmSchedule:
    """Both operands by cp.async, three stages."""
    base = SgemmSchedule(
        *block, *warp, *thread, transport_a=Transport.ASYNC_COPY, transport_b=Transport.ASYNC_COPY, vector_a=1,
        stages=3, copy_steps=4,
    )  # fmt: skip
    return replace(base, **others)


def _loaded(
    block: tuple[int, int, int], warp: tuple[int, int], thread: tuple[int, int], **others: Any
) -> SgemmSchedule:
    """A through registers, in vectors: fewer copies than word by word, which is what small tiles wait for."""
    base = SgemmSchedule(*block, *warp, *thread, pad_a=4, transport_b=Transport.ASYNC_COPY)
    return replace(base, **others)


def _direct(
    block: tuple[int, int, int], warp: tuple[int, int], thread: tuple[int, int], **others: Any
) -> SgemmSchedule:
    """A from global memory to registers, lanes that share a tile along k."""
    base = SgemmSchedule(
        *block,
        *warp,
        *thread,
        transport_a=Transport.DIRECT,
        transport_b=Transport.ASYNC_COPY,
        pad_a=0,
        pad_b=4,
        **_PLAIN,
    )
    return replace(base, **others)


_ROWS: dict[str, Any] = {"lane_map": LaneMap.ROW_MAJOR}
_PLAIN: dict[str, Any] = {"double_buffer_fragments": False, **_ROWS}
_BROAD: dict[str, Any] = {"ffma_order": FfmaOrder.SERPENTINE_COLUMN}
_TWICE: dict[str, Any] = {"min_blocks": 2}
_SHAPE: dict[str, Any] = {"specialize": Specialize.SHAPE}
# Best first where all fill the device. Which of a kind is best depends on where ptxas happens to place its loads (up to
# 8 % at 4096³), so several are tried.
_LARGE = (
    _Seed(_streamed((128, 256, 8), (64, 64), (8, 16), copy_steps=2, vector_c=2, **_ROWS, **_BROAD, **_SHAPE), (1,)),
    _Seed(_streamed((64, 256, 8), (64, 64), (8, 16), copy_steps=2, **_ROWS, **_BROAD, **_TWICE, **_SHAPE), (0, 2)),
    _Seed(_streamed((128, 256, 8), (64, 64), (8, 16), copy_steps=8, **_ROWS, **_BROAD), (1,)),
    _Seed(_streamed((128, 256, 8), (64, 64), (16, 8), copy_steps=8, group_m=4, **_ROWS), (1,)),
    _Seed(_streamed((128, 256, 16), (64, 64), (16, 8), copy_steps=4, **_ROWS), (0,)),
    _Seed(_streamed((128, 128, 16), (64, 64), (16, 8), copy_steps=8, **_ROWS, **_TWICE, **_SHAPE), (0, 2)),
    _Seed(_streamed((128, 256, 16), (64, 64), (8, 16), copy_steps=2, vector_c=2, **_ROWS, **_BROAD, **_SHAPE), (1,)),
    _Seed(_streamed((64, 256, 8), (64, 64), (16, 8), copy_steps=8, **_TWICE), (0, 2)),
    _Seed(_streamed((128, 256, 16), (64, 64), (16, 8), copy_steps=2, vector_c=2, **_ROWS, **_SHAPE), (1,)),
    _Seed(_streamed((128, 256, 8), (64, 64), (16, 8), copy_steps=1), (1,)),
    _Seed(_streamed((128, 256, 8), (64, 64), (8, 16), copy_steps=1, vector_c=2, **_ROWS, **_BROAD), (1,)),
    _Seed(_streamed((64, 256, 8), (64, 64), (8, 16), copy_steps=2, **_ROWS, **_BROAD, **_TWICE), (2,)),
    _Seed(_streamed((128, 128, 16), (64, 64), (16, 8), **_TWICE), (2,)),
)
_MEDIUM = (
    _Seed(_streamed((64, 128, 16), (32, 64), (8, 8), cluster_k=2, **_TWICE, **_SHAPE), (0,)),
    _Seed(_streamed((32, 128, 32), (32, 64), (8, 8), stages=2, warps_k=2, cluster_k=4, **_TWICE, **_SHAPE), (0,)),
    _Seed(_streamed((64, 128, 16), (32, 64), (8, 8), **_TWICE), (2,)),
    _Seed(_streamed((64, 128, 16), (32, 64), (8, 8), **_TWICE, **_SHAPE), (2,)),
    _Seed(_streamed((32, 256, 16), (32, 64), (8, 8), **_TWICE), (2, 1)),
    _Seed(_streamed((32, 128, 16), (32, 64), (8, 8), **_TWICE), (4, 2)),
    _Seed(_streamed((64, 64, 32), (32, 64), (8, 8), warps_k=2, **_TWICE), (2,)),
    _Seed(_streamed((64, 64, 32), (32, 64), (8, 8), warps_k=2, **_TWICE, **_SHAPE), (2,)),
    _Seed(_streamed((64, 64, 16), (32, 64), (8, 8), **_TWICE), (4, 2)),
    _Seed(_streamed((64, 64, 16), (32, 64), (8, 8), **_TWICE, **_SHAPE), (4,)),
    _Seed(_streamed((64, 64, 16), (32, 64), (8, 8), warps_k=2, cluster_k=2), (0,)),
    _Seed(_streamed((64, 64, 16), (64, 64), (16, 8), **_TWICE), (2,)),
    _Seed(_streamed((64, 64, 16), (32, 32), (8, 4), **_TWICE), (4, 2)),
    _Seed(_streamed((128, 32, 16), (32, 32), (8, 4), **_TWICE), (0, 2)),
    _Seed(_streamed((32, 64, 32), (16, 64), (4, 8), **_TWICE), (2, 4)),
    _Seed(_streamed((32, 128, 32), (32, 64), (8, 8), stages=2, warps_k=2, **_TWICE, **_SHAPE), (0,)),
    _Seed(_streamed((36, 64, 16), (36, 64), (18, 4), warps_k=2, min_blocks=4, **_ROWS, **_SHAPE), (4,)),
    _Seed(_streamed((36, 128, 16), (36, 64), (18, 4), copy_steps=2, **_ROWS), (4, 2)),
    _Seed(_streamed((40, 128, 16), (40, 64), (10, 8), warps_k=2, **_ROWS, **_TWICE, **_SHAPE), (2, 1)),
    _Seed(_loaded((128, 64, 16), (32, 64), (8, 8), pad_a=8), (0,)),
    _Seed(_loaded((64, 64, 16), (32, 64), (8, 8), pad_a=8, **_TWICE), (4,)),
    _Seed(_loaded((32, 256, 16), (32, 64), (8, 8), pad_a=8), (0,)),
    _Seed(_loaded((128, 32, 16), (32, 32), (8, 4), stages=3), (0,)),
    _Seed(_loaded((32, 64, 16), (32, 32), (8, 4), stages=3), (0,)),
)
_SMALL = (
    _Seed(_streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2, cluster_k=4), (0,)),
    _Seed(_streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2), (1, 2, 0)),
    _Seed(_streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2, cluster_k=2, **_SHAPE), (0,)),
    _Seed(_streamed((64, 32, 16), (32, 32), (8, 4), cluster_k=8), (0,)),
    _Seed(_streamed((32, 32, 32), (16, 32), (4, 4), warps_k=2, cluster_k=2, **_SHAPE), (0,)),
    _Seed(_streamed((16, 64, 32), (16, 32), (4, 4), warps_k=4, stages=4, **_SHAPE), (0,)),
    _Seed(_streamed((64, 64, 16), (32, 64), (8, 8), warps_k=2, cluster_k=8), (0,)),
    _Seed(_streamed((64, 64, 16), (32, 64), (8, 8), warps_k=2, cluster_k=2, **_SHAPE), (2,)),
    _Seed(_streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2, **_SHAPE), (2,)),
    _Seed(_streamed((64, 32, 16), (32, 32), (8, 4), warps_k=2), (2, 1)),
    _Seed(_streamed((64, 32, 16), (32, 32), (8, 4)), (4, 2)),
    _Seed(_streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2), (1, 2)),
    _Seed(_streamed((16, 64, 32), (16, 64), (4, 8), warps_k=4, stages=4), (2, 1)),
    _Seed(_streamed((16, 64, 32), (16, 64), (4, 8), warps_k=4, stages=4, **_SHAPE), (1,)),
    _Seed(_streamed((16, 64, 32), (16, 32), (4, 4), warps_k=2, stages=4), (1, 2)),
    _Seed(_streamed((32, 32, 32), (16, 32), (4, 4), warps_k=2), (2,)),
    _Seed(_loaded((16, 64, 32), (16, 32), (4, 4)), (0, 2)),
    _Seed(_loaded((64, 16, 32), (32, 16), (4, 4), stages=1, double_buffer_fragments=False), (2,)),
)
# A tile that has all rows, or all columns, of the small operand streams the large one once.
_ROW: dict[str, Any] = {"pad_a": 0, "copy_steps": 1, **_PLAIN}
_FEW_ROWS = (
    _Seed(_streamed((1, 256, 32), (1, 128), (1, 4), warps_k=2, cluster_k=8, **_ROW), (0, 1)),
    _Seed(_streamed((1, 128, 32), (1, 128), (1, 4), warps_k=2, cluster_k=4, **_ROW), (0,)),
    _Seed(_streamed((1, 256, 16), (1, 128), (1, 4), stages=4, cluster_k=8, **_ROW, **_SHAPE), (1, 0)),
    _Seed(_streamed((1, 128, 32), (1, 128), (1, 4), warps_k=4, cluster_k=4, **_ROW, **_SHAPE), (0,)),
    _Seed(_streamed((1, 256, 16), (1, 128), (1, 4), stages=4, **_ROW), (2, 0)),
    _Seed(_streamed((1, 128, 32), (1, 128), (1, 4), warps_k=4, **_ROW), (1, 2)),
    _Seed(_streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2, **_SHAPE), (2,)),
    _Seed(_streamed((16, 64, 32), (16, 64), (4, 8), warps_k=4, stages=4, **_SHAPE), (2,)),
    _Seed(_streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2, cluster_k=2), (0, 2)),
    _Seed(_streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2), (2,)),
    _Seed(replace(_streamed((16, 128, 32), (8, 128), (4, 8), stages=2, **_PLAIN), min_blocks=2), (4, 2)),
    _Seed(_loaded((8, 64, 32), (8, 64), (4, 4), stages=3), (4, 3)),
    _Seed(_loaded((16, 128, 32), (8, 128), (4, 8), pad_a=8, **_PLAIN), (2,)),
    _Seed(_streamed((16, 128, 32), (16, 64), (4, 8), stages=4, **_TWICE), (2,)),
    _Seed(_streamed((16, 256, 32), (16, 64), (4, 8)), (1,)),
)
_FEW_COLUMNS = (
    _Seed(_streamed((32, 16, 32), (32, 16), (4, 4), warps_k=2, stages=4, cluster_k=4, copy_steps=1, **_ROWS), (0,)),
    _Seed(_streamed((64, 16, 32), (64, 16), (8, 4), warps_k=2, cluster_k=8, copy_steps=1, **_ROWS), (0,)),
    _Seed(_loaded((64, 16, 32), (32, 16), (4, 4), warps_k=2, stages=1, cluster_k=8, **_PLAIN, **_SHAPE), (0,)),
    _Seed(_direct((128, 8, 64), (64, 8), (16, 8), warps_k=2), (2, 4)),
    _Seed(_direct((128, 16, 32), (64, 16), (8, 16), warps_k=1), (2, 4)),
    _Seed(_direct((64, 16, 64), (32, 16), (8, 16), warps_k=2), (2, 4)),
    _Seed(_streamed((32, 16, 32), (32, 16), (4, 4), warps_k=4, stages=4, copy_steps=1, **_ROWS), (2,)),
    _Seed(_streamed((256, 8, 32), (128, 8), (8, 4), **_TWICE), (2, 1)),
    _Seed(_streamed((128, 8, 32), (128, 8), (8, 4), **_TWICE), (3,)),
    _Seed(_streamed((128, 16, 32), (64, 16), (8, 4), **_TWICE), (2, 1)),
)


def _candidates(problem: SgemmProblem, limits: DeviceLimits) -> tuple[_Seed, ...]:
    customary = tuple(_Seed(schedule, (0, 1)) for schedule in _CUSTOMARY)
    if problem.m <= 16:
        whole = (seed for seed in _FEW_ROWS if seed.schedule.block_m >= problem.m)
        return (*whole, *_SMALL, *customary)
    if problem.n <= 16:
        whole = (seed for seed in _FEW_COLUMNS if seed.schedule.block_n >= problem.n)
        return (*whole, *_SMALL, *customary)
    whole_waves = tuple(_Seed(schedule, (0,)) for schedule in filling(problem, limits))
    if problem.m * problem.n <= 512 * 512:
        return (*_SMALL, *whole_waves, *_MEDIUM, *customary)
    if problem.m * problem.n <= 1536 * 1536:
        return (*whole_waves, *_MEDIUM, *_LARGE, *_SMALL, *customary)
    return (*_LARGE, *whole_waves, *_MEDIUM, *customary)


def _adapted(problem: SgemmProblem, schedule: SgemmSchedule, limits: DeviceLimits) -> SgemmSchedule:
    """The schedule with accesses and copies that this problem and this device have."""
    schedule = fitted(problem, schedule)
    changes: dict[str, Any] = {} if schedule.cluster_k in clusters(problem, limits) else {"cluster_k": 1}
    for operand in "ab":
        if limits.compute_capability < (8, 0):
            changes[f"transport_{operand}"] = Transport.REGISTERS
            changes["copy_steps"] = 1
        elif getattr(schedule, f"transport_{operand}") is Transport.ASYNC_COPY:
            changes[f"vector_{operand}"] = 1 if problem.along_k(operand) else problem.vector_width(operand)
            across = 4 if schedule.lanes_k > 1 else 0
            changes[f"pad_{operand}"] = schedule.pad_a if problem.along_k(operand) else across
    return replace(schedule, **changes)


def seeds(problem: SgemmProblem, limits: DeviceLimits) -> list[SgemmSchedule]:
    """The known winners that are legal here, and the default if it is none of them.

    Tiles that are mostly outside of the matrix are left out.
    """
    found = []
    for seed in _candidates(problem, limits):
        schedule = _adapted(problem, seed.schedule, limits)
        if _mostly_inside(problem, schedule):
            grids = ("tiles" if blocks == 0 else f"SMs·{blocks}" for blocks in seed.blocks)
            found += [replace(schedule, grid_blocks=grid_blocks(problem, limits, schedule, grid)) for grid in grids]
    legal = [schedule for schedule in found if not violations(problem, schedule, limits)]
    return list(dict.fromkeys([*legal, default(problem, limits)]))


def default(problem: SgemmProblem, limits: DeviceLimits) -> SgemmSchedule:
    """The largest customary tile that fills the device; a small one, split along k, if none does."""
    candidates = [_adapted(problem, schedule, limits) for schedule in _CUSTOMARY]
    for schedule in candidates:
        if schedule.tiles(problem) >= limits.sm_count:
            return schedule
    small = candidates[-2]
    return replace(small, grid_blocks=grid_blocks(problem, limits, small, "SMs·1"))


def _mostly_inside(problem: SgemmProblem, schedule: SgemmSchedule) -> bool:
    return schedule.block_m < max(16, 2 * problem.m) and schedule.block_n < max(16, 2 * problem.n)
