"""Tiles of C that fill a device in whole waves, so that no block waits for another's tile."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from ...codegen.schedule import Specialize
from ...codegen.sgemm.problem import SgemmProblem
from ...codegen.sgemm.schedule import FfmaOrder, LaneMap, SgemmSchedule, Transport, strip_width
from ..limits import DeviceLimits
from .space import clusters

_WARPS = 8  # of an SM: a thread has 255 registers, and each of the four schedulers two warps
_NEAR = 0.85  # of the best, which is how far the estimate may be off
_MOST_WAVES = 3  # with more, the last one matters less than what a larger tile saves
_THREADS = ((4, 8), (8, 8), (10, 8), (12, 8), (18, 4), (22, 6), (18, 8), (16, 8), (8, 16))


class _Tile(NamedTuple):
    """A thread's tile, the lanes and the warps that repeat it, and the parts along k."""

    thread: tuple[int, int]
    lanes_m: int
    warps_m: int
    warps_n: int
    warps_k: int
    cluster_k: int

    @property
    def block(self) -> tuple[int, int]:
        lanes_n = 32 // self.lanes_m
        return self.thread[0] * self.lanes_m * self.warps_m, self.thread[1] * lanes_n * self.warps_n

    @property
    def warps(self) -> int:
        return self.warps_m * self.warps_n * self.warps_k

    def ffma_share(self, vector_b: int) -> float:
        """Of the instructions that multiply, load fragments or copy, A word by word."""
        (m, n), (block_m, block_n) = self.thread, self.block
        loads = (m / strip_width(m) + n / strip_width(n)) / (m * n)
        copies = 1 / block_n + 1 / (vector_b * block_m)
        return 1 / (1 + loads + copies)


def filling(problem: SgemmProblem, limits: DeviceLimits) -> list[SgemmSchedule]:
    """The tiles with which most of the device's instruction slots are for useful FFMAs, the best first.

    One for each thread tile and cluster, if it is not far from the best of all. Useful is the part of C among the words
    of all waves' tiles, by the share of FFMAs in the loop. An SM holds two blocks or more, of which one works while
    another waits. Measured on an H200, 777×1333×555 takes 37.8 µs with 126 clusters of two blocks on 264 places, 41 µs
    with the best tile whose pieces are added up afterwards.
    """
    shapes = product(_THREADS, (2, 4, 8), (1, 2), (1, 2, 4), (1, 2), clusters(problem, limits)[:2])
    tiles = [tile for tile in (_Tile(*shape) for shape in shapes) if tile.warps in (1, 2, 4)]
    rated = sorted(((_useful(problem, limits, tile), tile) for tile in tiles), key=lambda pair: pair[0])
    least = _NEAR * rated[-1][0]
    best = {(tile.thread, tile.cluster_k): (useful, tile) for useful, tile in rated if useful and useful >= least}
    return [_schedule(tile) for _, tile in sorted(best.values(), key=lambda pair: -pair[0])]


def _useful(problem: SgemmProblem, limits: DeviceLimits, tile: _Tile) -> float:
    """0 with more waves than matter, and with tiles that are mostly outside of the matrix."""
    (m, n), places = tile.block, limits.sm_count * (_WARPS // tile.warps) // tile.cluster_k
    tiles = -(-problem.m // m) * -(-problem.n // n) * problem.batch
    waves = -(-tiles // places)
    if waves > _MOST_WAVES or m >= 2 * problem.m or n >= 2 * problem.n:
        return 0.0
    return problem.batch * problem.m * problem.n / (waves * places * m * n) * tile.ffma_share(problem.vector_width("b"))


def _schedule(tile: _Tile) -> SgemmSchedule:
    (block_m, block_n), (thread_m, thread_n) = tile.block, tile.thread
    return SgemmSchedule(
        block_m,
        block_n,
        16,
        block_m // tile.warps_m,
        block_n // tile.warps_n,
        thread_m,
        thread_n,
        warps_k=tile.warps_k,
        cluster_k=tile.cluster_k,
        min_blocks=_WARPS // tile.warps,
        transport_a=Transport.ASYNC_COPY,
        transport_b=Transport.ASYNC_COPY,
        vector_a=1,
        copy_steps=4,
        lane_map=LaneMap.ROW_MAJOR,
        ffma_order=FfmaOrder.SERPENTINE_ROW,
        specialize=Specialize.SHAPE,
    )
