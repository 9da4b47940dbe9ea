"""transpose: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from ....codegen.fields import field_specs
from ....codegen.integers import round_up
from ....codegen.layout.transpose.emit import blocks
from ....codegen.layout.transpose.presets import vectorised
from ....codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from ....codegen.layout.transpose.schedule import SECTOR_BYTES, WARP, TransposeSchedule
from ....codegen.matrices import WIDEST_ACCESS
from ....codegen.schedule import Specialize
from ...device_spec import DeviceSpec
from ...resources import group_violations
from ...space import Draw, Parameter, Space, Value, field_parameters

_GRID_BLOCKS = 2**31 - 1
_THREADS = (64, 128, 256, 512)
_NARROW = 16  # rows or columns


def constraints(problem: TransposeProblem, schedule: TransposeSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    if found := list(_tile_violations(schedule)):
        return found
    found += _access_violations(problem, schedule)
    found += _overlap_violations(problem, schedule)
    if found:
        return found
    if blocks(problem, schedule) > _GRID_BLOCKS:
        found.append(f"{blocks(problem, schedule)} blocks over the {_GRID_BLOCKS} of a grid")
    return [*found, *group_violations(schedule.raster_group, schedule.tiles(problem)[1])]


def _tile_violations(schedule: TransposeSchedule) -> Iterator[str]:
    """Micro-tiles that do not fill the tile, or threads that do not fill warps."""
    for large, small in (
        ("tile_m", "rows_per_thread"),
        ("rows_per_thread", "vector_store"),
        ("tile_n", "vector_load"),
        ("pad", "vector_store"),
    ):
        if getattr(schedule, large) % getattr(schedule, small):
            yield f"{large} {getattr(schedule, large)} is not a multiple of {small} {getattr(schedule, small)}"
    if schedule.threads % WARP:
        yield f"{schedule.threads} threads are not whole warps of {WARP}"
    if schedule.swizzle:
        for name in ("pad", "align_stores"):
            if value := getattr(schedule, name):
                yield f"swizzle excludes {name} {value}"
        if schedule.tile_m & (schedule.tile_m - 1):
            yield f"swizzle needs a power of two, not tile_m {schedule.tile_m}"


def _access_violations(problem: TransposeProblem, schedule: TransposeSchedule) -> Iterator[str]:
    for operand, name in (("a", "vector_load"), ("b", "vector_store")):
        vector, widest = getattr(schedule, name), problem.vector_width(operand)
        if operand == "b" and schedule.align_stores:
            widest = WIDEST_ACCESS // problem.element_bytes
        if vector > widest:
            yield f"{name} {vector} over the {widest} elements that {operand.upper()} is aligned for"


def _overlap_violations(problem: TransposeProblem, schedule: TransposeSchedule) -> Iterator[str]:
    overlap = schedule.overlap(problem.element_bytes)
    if overlap and (schedule.tile_m <= overlap or schedule.tile_m % overlap):
        yield (
            f"tile_m {schedule.tile_m}: expected a multiple of the {overlap} elements in align_stores "
            f"{schedule.align_stores}, and more"
        )


# ---- what to draw from ----------------------------------------------------------------------------------------------


def space(problem: TransposeProblem, spec: DeviceSpec) -> Space[TransposeSchedule]:
    """Threads, their arrangement and their micro-tiles are drawn and the tile follows, so that tiles always fill.

    Tiles of a narrow matrix are as wide as the matrix. Stores are aligned where rows of B begin within sectors.
    """
    widths_a, widths_b = _widths(problem, "a"), _widths(problem, "b")
    across = _narrow_side(problem)
    aligned = across == "m" or not _begins_within_sectors(problem)
    vectors_b = widths_b if aligned else _up_to(WIDEST_ACCESS // problem.element_bytes)
    arrangement: dict[str, tuple[Value, ...]] = {
        "threads": _THREADS,
        "lanes_n": (4, 8, 16, 32, 64) if len(widths_a) > 1 else (4, 8, 16, 32, 64, 128),
        "micro_tiles": (1, 2, 4, 8),
        "layout": ("plain", "padded", "swizzled"),
    }
    if across == "n":
        arrangement |= {"threads": _narrow_threads(problem.n), "lanes_n": (problem.n,)}
        widths_a = (1,)
    elif across == "m":
        arrangement |= {"lanes_n": _THREADS, "micro_tiles": (problem.m,), "layout": ("plain", "padded")}
        del arrangement["threads"]
        vectors_b = (1,)
    parameters = (
        *(Parameter(name, values) for name, values in arrangement.items()),
        *field_parameters(
            TransposeSchedule,
            vector_load=widths_a,
            vector_store=vectors_b,
            **({"align_stores": (0,)} if aligned else {}),
        ),
    )

    def build(draw: Draw) -> TransposeSchedule:
        same = {name: value for name, value in draw.items() if name in field_specs(TransposeSchedule)}
        schedule = TransposeSchedule.from_dict(same)
        threads = int(draw.get("threads", draw["lanes_n"]))
        lanes_n = min(int(draw["lanes_n"]), threads)
        micro_tiles = threads // lanes_n * int(draw["micro_tiles"])
        if micro_tiles * schedule.vector_store <= schedule.overlap(problem.element_bytes):
            schedule = replace(schedule, align_stores=0)
        if not schedule.align_stores:
            schedule = replace(schedule, vector_store=min(schedule.vector_store, widths_b[-1]))
        rows = int(draw["micro_tiles"]) * schedule.vector_store
        tile_m, tile_n = micro_tiles * schedule.vector_store, lanes_n * schedule.vector_load
        schedule = replace(schedule, rows_per_thread=rows, tile_m=tile_m, tile_n=tile_n)
        if draw["layout"] == "padded":
            return replace(schedule, pad=schedule.group_shift(problem.element_bytes))
        return replace(schedule, swizzle=draw["layout"] == "swizzled" and not schedule.align_stores)

    return Space(parameters, build)


def _widths(problem: TransposeProblem, operand: str) -> tuple[int, ...]:
    return _up_to(problem.vector_width(operand))


def _up_to(widest: int) -> tuple[int, ...]:
    return tuple(width for width in ELEMENT_BYTES if width <= widest)


def _narrow_side(problem: TransposeProblem) -> str:
    """The side that tiles of the usual sizes do not fill: ``m``, ``n`` or none."""
    side = min(problem.m, problem.n)
    if not 1 <= side < _NARROW or (side >= 8 and side & (side - 1) == 0):
        return ""
    return "m" if problem.m <= problem.n else "n"


def _narrow_threads(n: int) -> tuple[int, ...]:
    """Whole warps that are whole rows of n threads."""
    return tuple(n * rows for rows in (32, 64, 128, 256, 512) if _THREADS[0] <= n * rows <= _THREADS[-1])


def _begins_within_sectors(problem: TransposeProblem) -> bool:
    """Whether rows of B begin within sectors."""
    return problem.align_b < WIDEST_ACCESS or any(
        step * problem.element_bytes % SECTOR_BYTES for step in (problem.ldb, problem.stride_b)
    )


# ---- what to try first ----------------------------------------------------------------------------------------------


def default(problem: TransposeProblem, spec: DeviceSpec) -> TransposeSchedule:
    """The widest accesses, in a tile of 8 or 16 KiB, of which several fit on any SM, or one as narrow as the matrix."""
    first = vectorised(problem)
    return next(_narrow(problem, first)) if _narrow_side(problem) else first


def candidates(problem: TransposeProblem, spec: DeviceSpec) -> list[TransposeSchedule]:
    """Variants of the default: other tiles and orders, more rows in flight, caches told that data is used once.

    The default is none of them: 4096×8192 words take it 90 µs on an H200, and 67 to 73 µs those that are streaming.
    Where accesses are one element wide, the fastest of a suite on an H200 are padded and leave data in the caches.
    """
    first = vectorised(problem)
    tall, broad = replace(first, tile_m=2 * first.tile_m), replace(first, tile_n=2 * first.tile_n)
    deep = replace(first, rows_per_thread=2 * first.rows_per_thread)
    large = replace(deep, tile_m=2 * first.tile_m, tile_n=2 * first.tile_n)
    small = replace(first, tile_m=max(first.rows_per_thread, first.tile_m // 2), tile_n=first.tile_n // 2)
    found = []
    for shape in (first, tall, broad, deep, large, small, *_narrow(problem, first)):
        streaming = replace(shape, streaming=True)
        found += [streaming, replace(streaming, raster_group=8), replace(streaming, specialize=Specialize.SHAPE)]
        padded = replace(shape, swizzle=False, pad=shape.group_shift(problem.element_bytes), raster_group=256)
        found += [padded, replace(padded, specialize=Specialize.SHAPE)]
    for shape in _aligned(problem):
        found += [shape, replace(shape, specialize=Specialize.SHAPE)]
    drawn = space(problem, spec)
    return [schedule for schedule in dict.fromkeys(found) if schedule in drawn]


def _aligned(problem: TransposeProblem) -> Iterator[TransposeSchedule]:
    """Aligned stores as wide as any, from tiles that overlap by a small share of their rows."""
    load, store = problem.vector_width("a"), WIDEST_ACCESS // problem.element_bytes
    for align, tile_m, tile_n, threads in product((32, 64), (128, 256), (32, 64), (256, 512)):
        rows = tile_m * tile_n // load // threads
        if rows >= store:
            yield TransposeSchedule(tile_m, tile_n, rows, load, store, align_stores=align, raster_group=256)


def _narrow(problem: TransposeProblem, first: TransposeSchedule) -> Iterator[TransposeSchedule]:
    """Tiles as narrow as the matrix, and long along its other side."""
    side = _narrow_side(problem)
    if side == "n":
        stores = {first.vector_store, min(first.vector_store, max(1, 4 // problem.element_bytes))}
        for threads, store, micro_tiles in product(_narrow_threads(problem.n)[:3], sorted(stores), (1, 4)):
            rows = micro_tiles * store
            yield TransposeSchedule(threads // problem.n * rows, problem.n, rows, 1, store)
    elif side == "m":
        for load, lanes in product(_widths(problem, "a"), (128, 256)):
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


def checks(problem: TransposeProblem, schedule: TransposeSchedule) -> list[tuple[TransposeProblem, TransposeSchedule]]:
    """Whole tiles, aligned as the problem's; and edges on both sides, in two batches, just aligned enough."""
    m, n, size = schedule.tile_m, schedule.tile_n, problem.element_bytes
    store = 1 if schedule.align_stores else schedule.vector_store
    whole = TransposeProblem(2 * m, 2 * n, size, align_a=problem.align_a, align_b=problem.align_b)
    ragged = TransposeProblem(
        m + m // 2 + 1,
        2 * n + n // 2 + 1,
        size,
        batch=2,
        lda=round_up(2 * n + n // 2 + 1, schedule.vector_load),
        ldb=round_up(m + m // 2 + 1, store),
        align_a=schedule.vector_load * size,
        align_b=store * size,
    )
    return [(whole, schedule), (ragged, schedule)]
