"""The catalogue of seeds: sgemm schedules that were the fastest of many on an H200, by the size of C."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from autotune.codegen.matmul.sgemm.schedule import CopyMode, FfmaOrder, LaneMap, SgemmSchedule
from autotune.codegen.model.schedule import Specialize


@dataclass(frozen=True)
class Seed:
    """A schedule and the grids to try it with: blocks for each SM."""

    schedule: SgemmSchedule
    blocks: tuple[int, ...]


def streamed(
    block: tuple[int, int, int], warp: tuple[int, int], thread: tuple[int, int], **others: Any
) -> SgemmSchedule:
    """Both operands by cp.async, three stages."""
    base = SgemmSchedule(
        *block, *warp, *thread, copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1,
        stages=3, copy_steps=4,
    )  # fmt: skip
    return replace(base, **others)


def _loaded(
    block: tuple[int, int, int], warp: tuple[int, int], thread: tuple[int, int], **others: Any
) -> SgemmSchedule:
    """A through registers, in vectors: fewer copies than one by one, and small tiles wait for copies."""
    base = SgemmSchedule(*block, *warp, *thread, pad_a=4, copy_b=CopyMode.ASYNC_COPY)
    return replace(base, **others)


def _direct(
    block: tuple[int, int, int], warp: tuple[int, int], thread: tuple[int, int], **others: Any
) -> SgemmSchedule:
    """A from global memory to registers, lanes that share a tile along k."""
    base = SgemmSchedule(
        *block,
        *warp,
        *thread,
        copy_a=CopyMode.DIRECT,
        copy_b=CopyMode.ASYNC_COPY,
        pad_a=0,
        pad_b=4,
        **_PLAIN,
    )
    return replace(base, **others)


_ROWS: dict[str, Any] = {"lane_map": LaneMap.ROW_MAJOR}
_PLAIN: dict[str, Any] = {"double_buffer_fragments": False, **_ROWS}
_BROAD: dict[str, Any] = {"ffma_order": FfmaOrder.SERPENTINE_COLUMN}
_TWICE: dict[str, Any] = {"min_blocks_per_sm": 2}
_SHAPE: dict[str, Any] = {"specialize": Specialize.SHAPE}
# Best first where all fill the device. Which of a kind is best depends on where ptxas happens to place its loads (up to
# 8 % at 4096³), so several are tried.
LARGE = (
    Seed(streamed((128, 256, 8), (64, 64), (8, 16), copy_steps=2, vector_c=2, **_ROWS, **_BROAD, **_SHAPE), (1,)),
    Seed(streamed((64, 256, 8), (64, 64), (8, 16), copy_steps=2, **_ROWS, **_BROAD, **_TWICE, **_SHAPE), (0, 2)),
    Seed(streamed((128, 256, 8), (64, 64), (8, 16), copy_steps=8, **_ROWS, **_BROAD), (1,)),
    Seed(streamed((128, 256, 8), (64, 64), (16, 8), copy_steps=8, raster_group=4, **_ROWS), (1,)),
    Seed(streamed((128, 256, 16), (64, 64), (16, 8), copy_steps=4, **_ROWS), (0,)),
    Seed(streamed((128, 128, 16), (64, 64), (16, 8), copy_steps=8, **_ROWS, **_TWICE, **_SHAPE), (0, 2)),
    Seed(streamed((128, 256, 16), (64, 64), (8, 16), copy_steps=2, vector_c=2, **_ROWS, **_BROAD, **_SHAPE), (1,)),
    Seed(streamed((64, 256, 8), (64, 64), (16, 8), copy_steps=8, **_TWICE), (0, 2)),
    Seed(streamed((128, 256, 16), (64, 64), (16, 8), copy_steps=2, vector_c=2, **_ROWS, **_SHAPE), (1,)),
    Seed(streamed((128, 256, 8), (64, 64), (16, 8), copy_steps=1), (1,)),
    Seed(streamed((128, 256, 8), (64, 64), (8, 16), copy_steps=1, vector_c=2, **_ROWS, **_BROAD), (1,)),
    Seed(streamed((64, 256, 8), (64, 64), (8, 16), copy_steps=2, **_ROWS, **_BROAD, **_TWICE), (2,)),
    Seed(streamed((128, 128, 16), (64, 64), (16, 8), **_TWICE), (2,)),
)
MEDIUM = (
    Seed(streamed((64, 128, 16), (32, 64), (8, 8), cluster_k=2, **_TWICE, **_SHAPE), (0,)),
    Seed(streamed((32, 128, 32), (32, 64), (8, 8), stages=2, warps_k=2, cluster_k=4, **_TWICE, **_SHAPE), (0,)),
    Seed(streamed((64, 128, 16), (32, 64), (8, 8), **_TWICE), (0, 2)),
    Seed(streamed((64, 128, 16), (32, 64), (8, 8), **_TWICE, **_SHAPE), (2,)),
    Seed(streamed((64, 128, 32), (32, 64), (8, 8), warps_k=4), (1,)),
    Seed(streamed((128, 64, 16), (64, 32), (8, 8), stages=2, **_TWICE), (2,)),
    Seed(streamed((64, 64, 32), (64, 32), (8, 8), stages=2, warps_k=2, cluster_k=2, **_TWICE), (2,)),
    Seed(streamed((32, 256, 16), (32, 64), (8, 8), **_TWICE), (2, 1)),
    Seed(streamed((32, 128, 16), (32, 64), (8, 8), **_TWICE), (4, 2)),
    Seed(streamed((64, 64, 32), (32, 64), (8, 8), warps_k=2, **_TWICE), (2,)),
    Seed(streamed((64, 64, 32), (32, 64), (8, 8), warps_k=2, **_TWICE, **_SHAPE), (2,)),
    Seed(streamed((64, 64, 16), (32, 64), (8, 8), **_TWICE), (0, 4, 2)),
    Seed(streamed((64, 64, 16), (32, 64), (8, 8), **_TWICE, **_SHAPE), (4,)),
    Seed(streamed((64, 64, 16), (32, 64), (8, 8), warps_k=2, cluster_k=2), (0,)),
    Seed(streamed((64, 64, 16), (64, 64), (16, 8), **_TWICE), (2,)),
    Seed(streamed((64, 64, 16), (32, 32), (8, 4), **_TWICE), (4, 2)),
    Seed(streamed((128, 32, 16), (32, 32), (8, 4), **_TWICE), (0, 2)),
    Seed(streamed((32, 64, 32), (16, 64), (4, 8), **_TWICE), (2, 4)),
    Seed(streamed((32, 128, 32), (32, 64), (8, 8), stages=2, warps_k=2, **_TWICE, **_SHAPE), (0,)),
    Seed(_loaded((128, 64, 16), (32, 64), (8, 8), pad_a=8), (0,)),
    Seed(_loaded((64, 64, 16), (32, 64), (8, 8), pad_a=8, **_TWICE), (4,)),
    Seed(_loaded((32, 256, 16), (32, 64), (8, 8), pad_a=8), (0,)),
    Seed(_loaded((128, 32, 16), (32, 32), (8, 4), stages=3), (0,)),
    Seed(_loaded((32, 64, 16), (32, 32), (8, 4), stages=3), (0,)),
)
# Tiles for 33 to 40 rows.
FORTY_ROWS = (
    Seed(streamed((36, 64, 16), (36, 64), (18, 4), warps_k=2, min_blocks_per_sm=4, **_ROWS, **_SHAPE), (4,)),
    Seed(streamed((40, 128, 16), (20, 128), (10, 8), warps_k=2, **_TWICE, **_SHAPE), (2,)),
    Seed(streamed((40, 128, 16), (40, 64), (10, 8), warps_k=2, **_ROWS, **_TWICE, **_SHAPE), (2,)),
    Seed(streamed((36, 128, 16), (36, 64), (18, 4), copy_steps=2, **_ROWS), (4, 2)),
)
SMALL = (
    Seed(streamed((32, 128, 32), (32, 64), (8, 8), warps_k=2, cluster_k=2, **_TWICE, **_SHAPE), (0,)),
    Seed(streamed((32, 64, 32), (32, 64), (8, 8), warps_k=4, cluster_k=2, **_TWICE, **_SHAPE), (0,)),
    Seed(streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2, cluster_k=4), (0,)),
    Seed(streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2), (1, 2, 0)),
    Seed(streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2, cluster_k=2, **_SHAPE), (0,)),
    Seed(streamed((64, 32, 16), (32, 32), (8, 4), cluster_k=8), (0,)),
    Seed(streamed((32, 32, 32), (16, 32), (4, 4), warps_k=2, cluster_k=2, **_SHAPE), (0,)),
    Seed(streamed((16, 64, 32), (16, 32), (4, 4), warps_k=4, stages=4, **_SHAPE), (0,)),
    Seed(streamed((64, 64, 16), (32, 64), (8, 8), warps_k=2, cluster_k=8), (0,)),
    Seed(streamed((64, 64, 16), (32, 64), (8, 8), warps_k=2, cluster_k=2, **_SHAPE), (2,)),
    Seed(streamed((32, 64, 32), (16, 64), (4, 8), warps_k=2, **_SHAPE), (2,)),
    Seed(streamed((64, 32, 16), (32, 32), (8, 4), warps_k=2), (2, 1)),
    Seed(streamed((64, 32, 16), (32, 32), (8, 4)), (4, 2)),
    Seed(streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2), (1, 2)),
    Seed(streamed((16, 64, 32), (16, 64), (4, 8), warps_k=4, stages=4), (2, 1)),
    Seed(streamed((16, 64, 32), (16, 64), (4, 8), warps_k=4, stages=4, **_SHAPE), (1,)),
    Seed(streamed((16, 64, 32), (16, 32), (4, 4), warps_k=2, stages=4), (1, 2)),
    Seed(streamed((32, 32, 32), (16, 32), (4, 4), warps_k=2), (2,)),
    Seed(_loaded((16, 64, 32), (16, 32), (4, 4)), (0, 2)),
    Seed(_loaded((64, 16, 32), (32, 16), (4, 4), stages=1, double_buffer_fragments=False), (2,)),
)
# Where there is less to compute than to wait for: small tiles with a block for each, which warps, lanes and clusters
# share along k, rather than a grid of its own and the workspace. Of ten that the dispatcher's time model chose out of
# 2496, those that were within 3 % of the best where they were tried on an H200: 40 of 233 times.
TINY = (
    Seed(streamed((8, 8, 64), (8, 8), (2, 4), warps_k=4), (0,)),
    Seed(streamed((8, 8, 64), (8, 8), (2, 4), warps_k=4, cluster_k=4), (0,)),
    Seed(streamed((8, 8, 64), (8, 8), (2, 4), warps_k=4, cluster_k=8), (0,)),
    Seed(_loaded((8, 8, 32), (8, 8), (2, 4), warps_k=2), (0,)),
    Seed(_loaded((16, 16, 16), (8, 16), (2, 4), warps_k=2), (0,)),
)
# Strips of single elements: a warp stores neighbours of a row of C together, wherever it begins. Strips of four would
# store each sector in four parts, which bounds a product of few steps along k: 8192×6779×32 took 430 µs on an H100, and
# takes 127.
SCATTERED = (
    Seed(streamed((48, 160, 8), (24, 80), (12, 5), stages=2, copy_steps=1, min_blocks_per_sm=3, **_ROWS), (0,)),
    Seed(_loaded((32, 96, 8), (8, 96), (8, 3), pad_a=0, min_blocks_per_sm=3, **_PLAIN), (0,)),
    Seed(streamed((48, 160, 16), (24, 80), (12, 5), stages=1, copy_steps=1, **_TWICE, **_PLAIN), (0,)),
)
# A tile that has all rows, or all columns, of the small operand streams the large one once.
_ROW: dict[str, Any] = {"pad_a": 0, "copy_steps": 1, **_PLAIN}
FEW_ROWS = (
    Seed(streamed((1, 256, 32), (1, 128), (1, 4), warps_k=2, cluster_k=8, **_ROW), (0, 1)),
    Seed(streamed((1, 128, 32), (1, 128), (1, 4), warps_k=2, cluster_k=4, **_ROW), (0,)),
    Seed(streamed((1, 256, 16), (1, 128), (1, 4), stages=4, cluster_k=8, **_ROW, **_SHAPE), (1, 0)),
    Seed(streamed((1, 128, 32), (1, 128), (1, 4), warps_k=4, cluster_k=4, **_ROW, **_SHAPE), (0,)),
    Seed(streamed((1, 256, 16), (1, 128), (1, 4), stages=4, **_ROW), (2, 0)),
    Seed(streamed((1, 128, 32), (1, 128), (1, 4), warps_k=4, **_ROW), (1, 2)),
    Seed(streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2, **_SHAPE), (2,)),
    Seed(streamed((16, 64, 32), (16, 64), (4, 8), warps_k=4, stages=4, **_SHAPE), (2,)),
    Seed(streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2, cluster_k=2), (0, 2)),
    Seed(streamed((16, 128, 32), (16, 64), (4, 8), warps_k=2), (2,)),
    Seed(replace(streamed((16, 128, 32), (8, 128), (4, 8), stages=2, **_PLAIN), min_blocks_per_sm=2), (4, 2)),
    Seed(_loaded((8, 64, 32), (8, 64), (4, 4), stages=3), (4, 3)),
    Seed(_loaded((16, 128, 32), (8, 128), (4, 8), pad_a=8, **_PLAIN), (2,)),
    Seed(streamed((16, 128, 32), (16, 64), (4, 8), stages=4, **_TWICE), (2,)),
    Seed(streamed((16, 256, 32), (16, 64), (4, 8)), (1,)),
)
FEW_COLUMNS = (
    Seed(streamed((32, 16, 32), (32, 16), (4, 4), warps_k=2, stages=4, cluster_k=4, copy_steps=1, **_ROWS), (0,)),
    Seed(streamed((64, 16, 32), (64, 16), (8, 4), warps_k=2, cluster_k=8, copy_steps=1, **_ROWS), (0,)),
    Seed(_loaded((64, 16, 32), (32, 16), (4, 4), warps_k=2, stages=1, cluster_k=8, **_PLAIN, **_SHAPE), (0,)),
    Seed(_direct((128, 8, 64), (64, 8), (16, 8), warps_k=2), (2, 4)),
    Seed(_direct((128, 16, 32), (64, 16), (8, 16), warps_k=1), (2, 4)),
    Seed(_direct((64, 16, 64), (32, 16), (8, 16), warps_k=2), (2, 4)),
    Seed(streamed((32, 16, 32), (32, 16), (4, 4), warps_k=4, stages=4, copy_steps=1, **_ROWS), (2,)),
    Seed(streamed((256, 8, 32), (128, 8), (8, 4), **_TWICE), (2, 1)),
    Seed(streamed((128, 8, 32), (128, 8), (8, 4), **_TWICE), (3,)),
    Seed(streamed((128, 16, 32), (64, 16), (8, 4), **_TWICE), (2, 1)),
)
