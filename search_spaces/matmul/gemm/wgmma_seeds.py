"""gemm: which schedules by wgmma to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....codegen.integers import ceil_div
from ....codegen.matmul.gemm.problem import GemmProblem
from ....codegen.matmul.gemm.schedule import GemmSchedule, Instruction
from ....codegen.schedule import Specialize
from ...device_spec import DeviceSpec
from .space import on_grid
from .wgmma_space import wgmma_fitted

_LOADED_BYTES = 45.5  # of an SM through L2 in a clock, as the time model has it
_SEEDS = 6


def _schedule(
    block_m: int,
    block_n: int,
    consumers: int,
    cluster: tuple[int, int] = (1, 1),
    *,
    pingpong: bool = False,
    blocks_per_sm: int = 1,
) -> GemmSchedule:
    return GemmSchedule(
        instruction=Instruction.WGMMA, block_m=block_m, block_n=block_n, block_k=64, consumers=consumers, stages=8,
        tensor_store=True, pingpong=pingpong, cluster_m=cluster[0], cluster_n=cluster[1],
        min_blocks_per_sm=blocks_per_sm,
    )  # fmt: skip


# Those of fast.cu, ThunderKittens, quack and DeepGEMM, best guess first where all fill the device.
_TILES = (
    _schedule(128, 256, 2, (2, 1)),
    _schedule(128, 256, 2),
    _schedule(256, 128, 2, (1, 2)),
    _schedule(256, 128, 2),
    _schedule(128, 128, 2, (2, 1), pingpong=True),
    _schedule(192, 192, 3),
    _schedule(128, 192, 2, (2, 1)),
    _schedule(192, 128, 3, (1, 2)),
    _schedule(128, 128, 2),
    _schedule(128, 128, 1, blocks_per_sm=2),
    _schedule(64, 256, 1),
    _schedule(256, 64, 2),
    _schedule(64, 128, 1, blocks_per_sm=2),
    _schedule(128, 64, 1, blocks_per_sm=2),
    _schedule(64, 64, 1, blocks_per_sm=2),
    _schedule(64, 32, 1, blocks_per_sm=2),
    _schedule(64, 16, 1, blocks_per_sm=2),
)


def wgmma_candidates(problem: GemmProblem, spec: DeviceSpec) -> Iterator[GemmSchedule]:
    """The tiles with which the fullest SM is done first, each with blocks that stay and with a block for each.

    Where tiles leave SMs idle, blocks share them along k.
    """
    scaled = (replace(one, block_k=one.block_k * 2 // problem.dtype.bytes) for one in _TILES)
    fitting = dict.fromkeys(wgmma_fitted(problem, one, spec) for one in scaled)
    for index, schedule in enumerate(sorted(fitting, key=lambda one: _clocks(problem, one, spec))[:_SEEDS]):
        staying = on_grid(problem, spec, schedule, f"SMs·{schedule.min_blocks_per_sm}")
        yield staying
        if index == 0:
            yield replace(staying, specialize=Specialize.SHAPE)
            yield replace(staying, wait_depth=1)
            yield replace(staying, tensor_store=False)
        yield schedule
        if 2 * schedule.tiles(problem) * schedule.cluster <= spec.sm_count:
            alone = replace(schedule, cluster_m=1, cluster_n=1, pingpong=False)
            yield on_grid(problem, spec, wgmma_fitted(problem, alone, spec), "SMs·1")


def _clocks(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> float:
    """Of the fullest SM, for its tiles: to multiply, or to load what they take of A and B."""
    tiles = ceil_div(schedule.tiles(problem), max(1, spec.sm_count // schedule.cluster))
    area = schedule.block_m * schedule.block_n
    loaded = schedule.block_m / schedule.cluster_n + schedule.block_n / schedule.cluster_m
    return tiles * max(area / spec.rates[problem.unit], loaded * problem.dtype.bytes / _LOADED_BYTES)
