"""transpose: which schedules to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from autotune.codegen.layout.transpose.presets import vectorised
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .space import narrow_side, narrow_threads, space, stores_within_sectors, widths

# tile_m, tile_n, threads, align_stores and min_blocks_per_sm of the fastest of 86 on an H200, with loads of 4 to 16
# bytes, where rows of B begin anywhere; the last for elements that are as wide as these loads. Without its bound, ptxas
# takes a few registers more than two of its blocks have: 4095×4097 words took 74 µs so, and 42 by the first of these.
_ALIGNED = (
    (128, 64, 512, 32, 3),
    (128, 64, 256, 32, 2),
    (128, 128, 512, 32, 2),
    (128, 128, 256, 32, 3),
    (256, 64, 512, 64, 3),
    (256, 64, 256, 64, 3),
    (128, 32, 512, 32, 2),
)


def default(problem: TransposeProblem, spec: DeviceSpec) -> TransposeSchedule:
    """The widest accesses, in a tile of 8 or 16 KiB, of which several fit on any SM, or one as narrow as the matrix."""
    first = vectorised(problem)
    return next(_narrow(problem, first)) if narrow_side(problem) else first


def candidates(problem: TransposeProblem, spec: DeviceSpec) -> list[TransposeSchedule]:
    """Variants of the default: other tiles and orders, more rows in flight, caches told that data is used once.

    The default is none of them: 4096×8192 words take it 90 µs on an H200, and 67 to 73 µs those that are streaming.
    Large matrices take less still where tiles are padded and data is left in the caches: 8192×8192 words 128 µs instead
    of 135.
    """
    first = vectorised(problem)
    tall, broad = replace(first, tile_m=2 * first.tile_m), replace(first, tile_n=2 * first.tile_n)
    deep = replace(first, rows_per_thread=2 * first.rows_per_thread)
    large = replace(deep, tile_m=2 * first.tile_m, tile_n=2 * first.tile_n)
    small = replace(first, tile_m=max(first.rows_per_thread, first.tile_m // 2), tile_n=first.tile_n // 2)
    found = list(_aligned(problem)) if stores_within_sectors(problem) else []
    for shape in (first, tall, broad, deep, large, small, *_narrow(problem, first)):
        found.append(replace(shape, swizzle=False, pad=shape.group_shift(problem.element_bytes), raster_group=256))
        found.append(replace(shape, streaming=True))
    found = [replace(schedule, specialize=how) for schedule in found for how in (Specialize.SHAPE, Specialize.NONE)]
    drawn = space(problem, spec)
    return [schedule for schedule in dict.fromkeys(found) if schedule in drawn]


def _aligned(problem: TransposeProblem) -> Iterator[TransposeSchedule]:
    """Padded tiles with aligned stores as wide as any, and with aligned loads where rows of A begin anywhere."""
    size = problem.element_bytes
    store = WIDEST_ACCESS // size
    for (tile_m, tile_n, threads, align_stores, blocks), load_bytes in product(_ALIGNED, (4, 8, 16)):
        load = load_bytes // size
        if load and (rows := tile_m * tile_n // load // threads) >= store:
            yield TransposeSchedule(
                tile_m,
                tile_n,
                rows,
                load,
                store,
                pad=align_stores // size,
                align_stores=align_stores,
                align_loads=0 if load <= problem.vector_width("a") else load_bytes,
                raster_group=256,
                min_blocks_per_sm=blocks,
            )


def _narrow(problem: TransposeProblem, first: TransposeSchedule) -> Iterator[TransposeSchedule]:
    """Tiles as narrow as the matrix, and long along its other side."""
    side = narrow_side(problem)
    if side == "n":
        stores = {first.vector_store, min(first.vector_store, max(1, 4 // problem.element_bytes))}
        for threads, store, micro_tiles in product(narrow_threads(problem.n)[:3], sorted(stores), (1, 4)):
            rows = micro_tiles * store
            yield TransposeSchedule(threads // problem.n * rows, problem.n, rows, 1, store)
    elif side == "m":
        for load, lanes in product(widths(problem, "a"), (128, 256)):
            yield TransposeSchedule(problem.m, lanes * load, problem.m, load)
    elif problem.n < first.tile_n:
        tile_n = max(4, _power_of_two(problem.n))
        vector, rows = min(first.vector_load, tile_n // 4), max(4, first.vector_store)
        yield replace(first, tile_m=256, tile_n=tile_n, vector_load=vector, rows_per_thread=rows)
    elif problem.m < first.tile_m:
        tile_m = max(4, _power_of_two(problem.m))
        vector = min(first.vector_store, tile_m)
        yield replace(first, tile_m=tile_m, tile_n=256, vector_store=vector, rows_per_thread=min(8, tile_m))


def _power_of_two(value: int) -> int:
    """The least one that is not below a value."""
    return 1 << max(0, value - 1).bit_length()
