"""Grids for the small problems that prove schedules of convolutions which are products."""

from __future__ import annotations

from typing import TypeVar

from autotune.codegen.convolution.conv2d.fma.schedule import FmaSchedule
from autotune.codegen.convolution.conv2d.mma_offsets.schedule import MmaOffsetsSchedule
from autotune.codegen.convolution.conv2d.wgmma_im2col.schedule import WgmmaIm2colSchedule
from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.matmul.gemm.wgmma.checks import small_grid
from autotune.search_spaces.matmul.sgemm.legal import steps_along_k

S = TypeVar("S", bound=FmaSchedule | MmaOffsetsSchedule | WgmmaSchedule)


def on_small_grid(small: ConvolutionProblem, schedule: S) -> S:
    """The schedule, with few blocks if it has a grid, of which two and more share a tile."""
    if not schedule.grid_blocks:
        return schedule
    if isinstance(schedule, FmaSchedule):
        steps = schedule.tiles(small.sgemm) * steps_along_k(small.sgemm, schedule)
        return schedule.replace(grid_blocks=min(schedule.grid_clusters, 3, steps) * schedule.cluster_k)
    if isinstance(schedule, WgmmaSchedule):
        product = schedule.product(small) if isinstance(schedule, WgmmaIm2colSchedule) else small.product
        return schedule.replace(grid_blocks=small_grid(product, schedule))
    tiles = schedule.tiles(small.product)
    return schedule.replace(grid_blocks=min(tiles * schedule.steps(small.product), ceil_div(3 * tiles, 2)))
