"""Tiles of C that fill a device in whole waves, so that no tile is split along k."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import prod
from operator import itemgetter

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import LaneMap, SgemmSchedule, strip_width
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .catalogue import streamed
from .space import clusters

_WARPS = 8  # warps of an SM: a thread has 255 registers, and each of the four schedulers two warps
_NEAR = 0.85  # share of the best, which is how far the estimate may be off
_MOST_WAVES = 3  # with more, the last one matters less than what a larger tile saves
_THREADS = ((4, 8), (8, 8), (10, 8), (12, 8), (18, 4), (22, 6), (18, 8), (16, 8), (8, 16))


def filling(problem: SgemmProblem, spec: DeviceSpec) -> list[SgemmSchedule]:
    """The schedules with the highest utilisation of the device, best first.

    Utilisation is (elements of C / elements of all tiles in all waves) × FFMA share of the loop. There is one schedule
    for each thread tile and cluster size, if it is near the best of all. An SM holds two blocks or more, so that one
    computes while another waits. On an H200, 777×1333×555 takes 37.8 µs with 126 clusters of two blocks, of 132 that
    fit at once, and 41 µs with the best tile that is split along k.
    """
    schedules = _schedules(clusters(problem, spec)[:2])
    rated = sorted(((_utilisation(problem, spec, schedule), schedule) for schedule in schedules), key=itemgetter(0))
    least = _NEAR * rated[-1][0]
    best = {
        (schedule.thread_m, schedule.thread_n, schedule.cluster_k): (utilisation, schedule)
        for utilisation, schedule in rated
        if utilisation and utilisation >= least
    }
    return [schedule for _, schedule in sorted(best.values(), key=lambda pair: -pair[0])]


@cache
def _schedules(cluster_sizes: tuple[int, ...]) -> list[SgemmSchedule]:
    shapes = product(_THREADS, (2, 4, 8), (1, 2), (1, 2, 4), (1, 2), cluster_sizes)
    return [_schedule(*shape) for shape in shapes if prod(shape[2:5]) <= _WARPS // 2]


def _schedule(
    thread: tuple[int, int], lanes_m: int, warps_m: int, warps_n: int, warps_k: int, cluster_k: int
) -> SgemmSchedule:
    warp_m, warp_n = thread[0] * lanes_m, thread[1] * (32 // lanes_m)
    return streamed(
        (warp_m * warps_m, warp_n * warps_n, 16),
        (warp_m, warp_n),
        thread,
        warps_k=warps_k,
        cluster_k=cluster_k,
        min_blocks_per_sm=_WARPS // (warps_m * warps_n * warps_k),
        stages=2,
        lane_map=LaneMap.ROW_MAJOR,
        specialize=Specialize.SHAPE,
    )


def _utilisation(problem: SgemmProblem, spec: DeviceSpec, schedule: SgemmSchedule) -> float:
    """Utilisation; 0 with more waves than matter, and with tiles that are mostly outside of the matrix."""
    m, n = schedule.block_m, schedule.block_n
    slots = spec.sm_count * schedule.min_blocks_per_sm // schedule.cluster_k
    waves = ceil_div(schedule.tiles(problem), slots)
    if waves > _MOST_WAVES or m >= 2 * problem.m or n >= 2 * problem.n:
        return 0.0
    inside = problem.batch * problem.m * problem.n / (waves * slots * m * n)
    return inside * _ffma_share(schedule, problem.vector_width("b"))


def _ffma_share(schedule: SgemmSchedule, vector_b: int) -> float:
    """The share of FFMAs among FFMAs, loads of fragments, and copies, with A copied element by element."""
    m, n = schedule.thread_m, schedule.thread_n
    loads = (m / strip_width(m) + n / strip_width(n)) / (m * n)
    copies = 1 / schedule.block_n + 1 / (vector_b * schedule.block_m)
    return 1 / (1 + loads + copies)
