"""gemm: which schedules by wgmma to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from math import sqrt
from typing import Any

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import ROW_BYTES, WgmmaSchedule
from autotune.codegen.matmul.gemm.wgmma.swap import tiled_problem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.source.wgmma import LEAST_COLUMNS, MOST_COLUMNS
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.roofline import bounding_unit
from autotune.search_spaces.matmul.gemm.order import fastest_first

from .legal import b_alone_across, swappable
from .space import SHARED, any_columns_swapped, cluster_ks, few_rows, fitted, has_wgmma, on_grid
from .workload import workload

_SEEDS = 24
_WAVES = 3  # numbers of waves that are tried, from the fewest on

# Rows of A and columns of B together, of tiles that are tried with twice as much of k in a step, too: a consumer waits
# half as often. 64×4096×4096 takes 13.3 µs by 64×48 with 128 of k and 13.9 with 64, and 128×3584×18944 by 64×56 takes
# 44.0 and 46.4. Tiles of 64×96 take 1 % less to 5 % more with 128, and 64×112 and 64×128 up to 13 % more.
_NARROW = 144
_WHOLE_BOXES = 64  # columns, of which tiles need no swap for B across k to be copied as it is
_MOST_STAGES, _STAGES = 16, 8  # stages of a block that has an SM to itself, and of others, two of which may fit
_ROWS = (
    (128, 2),
    (256, 2),
    (192, 3),
    (64, 1),
    (128, 1),
)  # rows of a tile, with their consumers; among equals, the first
# The clusters, each with the share of the SMs that they fill: a cluster lies within one GPC.
_CLUSTERS: tuple[tuple[dict[str, Any], float], ...] = (
    ({}, 1.0),
    ({"cluster_m": 2}, 1.0),
    ({"cluster_n": 2}, 1.0),
    ({"cluster_k": 2}, 1.0),
    ({"cluster_k": 4}, 0.91),
    ({"cluster_k": 8}, 0.85),
)


@lru_cache(maxsize=8)  # the default, the model's choice and the seeds of a problem all ask for them: 10 ms each time
def candidates(problem: GemmProblem, spec: DeviceSpec) -> tuple[WgmmaSchedule, ...]:
    """By modelled time; none where no product of wgmma is legal."""
    return tuple(fastest_first(problem, _likely(problem, spec), spec, workload)) if has_wgmma(problem, spec) else ()


def _likely(problem: GemmProblem, spec: DeviceSpec) -> Iterator[WgmmaSchedule]:
    """The best tiles with each grid that suits them, by the time model, and of the first one what changes little."""
    fitting = dict.fromkeys(_fitted(problem, one, spec) for one in _tiles(problem, spec))
    tiles = sorted(fitting, key=lambda one: one.swap)  # which may store elements of D one by one
    found = fastest_first(problem, (one for tile in tiles for one in _on_grids(problem, spec, tile)), spec, workload)
    yield found[0]
    yield from _like(problem, spec, found[0])
    yield from found[1:_SEEDS]


def _like(problem: GemmProblem, spec: DeviceSpec, first: WgmmaSchedule) -> Iterator[WgmmaSchedule]:
    """What changes little, and consumers that take turns if there are several waves."""
    if first.promote:  # more steps are unrolled where their number is known
        yield replace(first, specialize=Specialize.SHAPE)
    yield fitted(problem, replace(first, wait_depth=1 - first.wait_depth), spec)
    if _waves(problem, first, spec) > 1:
        fewer = fitted(problem, replace(first, stages=first.stages - 1), spec)
        turns = fitted(problem, _schedule(problem, (128, 128), 2, pingpong=True), spec)
        yield from (on_grid(problem, spec, one, "SMs·1") for one in (fewer, turns))
        if problem.residual:  # whole rows of C and D at a time, which device memory may prefer
            yield replace(first, raster_group=1)


def _schedule(problem: GemmProblem, block: tuple[int, int], consumers: int, **fields: Any) -> WgmmaSchedule:
    """A tile as the seeds have it; a consumer that is alone has a product under way while it waits.

    With swap if products then take B from registers.
    """
    fields.setdefault("swap", b_alone_across(problem) and swappable(problem))
    return WgmmaSchedule(
        block_m=block[0], block_n=block[1], block_k=ROW_BYTES // problem.dtype.bytes,
        consumers=consumers, stages=_STAGES, wait_depth=int(consumers == 1), tensor_store=True, **fields,
    )  # fmt: skip


def _tiles(problem: GemmProblem, spec: DeviceSpec) -> Iterator[WgmmaSchedule]:
    """For each number of rows, each cluster and each number of waves the narrowest tile that takes no more of them.

    Of B across k, of which copies bring boxes of 64 columns, the narrowest of whole boxes, too: on an H200,
    192×2048×4097 in bfloat16, both operands across k, takes 12.1 µs by 64×64 and 18.6 by clusters. Few rows of D become
    columns of tiles, too.
    """
    possible = cluster_ks(problem, spec)
    swapped: list[dict[str, Any]] = [{}, {"swap": True}] if any_columns_swapped(problem) else [{}]
    boxed = not problem.along_k("b") and problem.dtype.bits == 16  # copies bring whole boxes
    for block_m, consumers in _ROWS:
        for cluster, share, swap in ((*one, swap) for one in _CLUSTERS for swap in swapped):
            if cluster.get("cluster_k", 1) not in possible:
                continue
            one = _schedule(problem, (block_m, MOST_COLUMNS), consumers, **cluster, **swap)
            clusters, least = int(share * spec.sm_count) // one.cluster, LEAST_COLUMNS * one.cluster_m
            left = tiled_problem(problem, one)
            rows = ceil_div(left.m, block_m * one.cluster_m) * problem.batch
            fewest = ceil_div(rows * ceil_div(left.n, MOST_COLUMNS * one.cluster_n), clusters)
            for waves in range(fewest, fewest + _WAVES if one.cluster_k == 1 else 2):
                columns = max(1, waves * clusters // rows) * one.cluster_n
                block_n = round_up(ceil_div(left.n, columns), least)
                if block_n <= MOST_COLUMNS and not (swap and block_n % _WHOLE_BOXES == 0):
                    yield from _deeper(problem, replace(one, block_n=block_n))
                if boxed and not one.swap and block_n % _WHOLE_BOXES:
                    yield from _deeper(problem, replace(one, block_n=round_up(block_n, _WHOLE_BOXES)))
            if not one.swap and swappable(problem) and few_rows(problem):
                yield from _deeper(problem, replace(one, block_n=round_up(problem.m, least), swap=True))


def _deeper(problem: GemmProblem, tile: WgmmaSchedule) -> Iterator[WgmmaSchedule]:
    """The tile, and with longer steps if it is narrow, of one block, and has rows for all of its products.

    Rows outside of A, which copies fill with zeros, take longer the longer a step is.
    """
    yield tile
    narrow = tile.block_m + tile.block_n <= _NARROW and tile.block_m <= tiled_problem(problem, tile).m
    if narrow and tile.cluster == 1:
        yield replace(tile, block_k=2 * tile.block_k)


def _fitted(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> WgmmaSchedule:
    """With raster groups of which a wave is about a square of D, which loads least from device memory."""
    stages = _MOST_STAGES if _waves(problem, schedule, spec) == 1 else _STAGES
    schedule = fitted(problem, replace(schedule, stages=stages), spec)
    rows, columns = schedule.block_m * schedule.cluster_m, schedule.block_n * schedule.cluster_n
    wanted = sqrt(spec.sm_count / schedule.cluster * columns / rows)
    values: tuple[int, ...] = field_specs(WgmmaSchedule)["raster_group"].values
    nearest = min(values, key=lambda count: max(count, wanted) / min(count, wanted))
    return replace(schedule, raster_group=nearest)


def _on_grids(problem: GemmProblem, spec: DeviceSpec, schedule: WgmmaSchedule) -> Iterator[WgmmaSchedule]:
    """Blocks that stay store a tile while they load the next, and a block each evens out what memory delays.

    Blocks that share the last tiles follow.
    """
    grids = [schedule]
    if _waves(problem, schedule, spec) > 1:
        grids.append(on_grid(problem, spec, schedule, f"SMs·{schedule.min_blocks_per_sm}"))
    yield from grids if bounding_unit(problem, spec) is None else reversed(grids)
    shared = on_grid(problem, spec, schedule, f"{SHARED}·1")
    if shared.shares_tiles(problem):
        yield shared


def _waves(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> int:
    return ceil_div(schedule.tiles(problem) * schedule.cluster, spec.sm_count)
