"""transpose: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....codegen.fields import field_specs
from ....codegen.integers import ceil_div, round_up
from ....codegen.layout.transpose.emit import blocks
from ....codegen.layout.transpose.presets import vectorised
from ....codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from ....codegen.layout.transpose.schedule import WARP, TransposeSchedule
from ....codegen.schedule import Specialize
from ...device_spec import DeviceSpec
from ...resources import group_violations
from ...space import Draw, Parameter, Space, field_parameters

_GRID_BLOCKS = 2**31 - 1


def constraints(problem: TransposeProblem, schedule: TransposeSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    if found := list(_tile_violations(schedule)):
        return found
    found += _access_violations(problem, schedule)
    if blocks(problem, schedule) > _GRID_BLOCKS:
        found.append(f"{blocks(problem, schedule)} blocks over the {_GRID_BLOCKS} of a grid")
    return [*found, *group_violations(schedule.raster_group, ceil_div(problem.n, schedule.tile_n))]


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
    if schedule.swizzle and schedule.pad:
        yield f"swizzle excludes pad {schedule.pad}"


def _access_violations(problem: TransposeProblem, schedule: TransposeSchedule) -> Iterator[str]:
    for operand, name in (("a", "vector_load"), ("b", "vector_store")):
        vector, widest = getattr(schedule, name), problem.vector_width(operand)
        if vector > widest:
            yield f"{name} {vector} over the {widest} elements that {operand.upper()} is aligned for"


# ---- what to draw from ----------------------------------------------------------------------------------------------


def space(problem: TransposeProblem, spec: DeviceSpec) -> Space[TransposeSchedule]:
    """Threads, their arrangement and their micro-tiles are drawn and the tile follows, so that tiles always fill."""
    parameters = (
        Parameter("threads", (64, 128, 256, 512)),
        Parameter("lanes_n", (4, 8, 16, 32, 64)),
        Parameter("micro_tiles", (1, 2, 4, 8)),
        Parameter("layout", ("plain", "padded", "swizzled")),
        *field_parameters(TransposeSchedule, vector_load=_widths(problem, "a"), vector_store=_widths(problem, "b")),
    )

    def build(draw: Draw) -> TransposeSchedule:
        same = {name: value for name, value in draw.items() if name in field_specs(TransposeSchedule)}
        schedule = TransposeSchedule.from_dict(same)
        rows, lanes_n = int(draw["micro_tiles"]) * schedule.vector_store, int(draw["lanes_n"])
        tile_m, tile_n = int(draw["threads"]) // lanes_n * rows, lanes_n * schedule.vector_load
        schedule = replace(schedule, rows_per_thread=rows, tile_m=tile_m, tile_n=tile_n)
        if draw["layout"] == "padded":
            return replace(schedule, pad=schedule.group_shift(problem.element_bytes))
        return replace(schedule, swizzle=draw["layout"] == "swizzled")

    return Space(parameters, build)


def _widths(problem: TransposeProblem, operand: str) -> tuple[int, ...]:
    return tuple(width for width in ELEMENT_BYTES if width <= problem.vector_width(operand))


# ---- what to try first ----------------------------------------------------------------------------------------------


def default(problem: TransposeProblem, spec: DeviceSpec) -> TransposeSchedule:
    """The widest accesses, in a tile of 8 or 16 KiB, of which several fit on any SM."""
    return vectorised(problem)


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
    drawn = space(problem, spec)
    return [schedule for schedule in dict.fromkeys(found) if schedule in drawn]


def _narrow(problem: TransposeProblem, first: TransposeSchedule) -> Iterator[TransposeSchedule]:
    """Tiles about as narrow as the matrix, and long along its other side."""
    if problem.n < first.tile_n:
        tile_n = max(4, _power_of_two(problem.n))
        vector, rows = min(first.vector_load, tile_n // 4), max(4, first.vector_store)
        yield replace(first, tile_m=256, tile_n=tile_n, vector_load=vector, rows_per_thread=rows)
    if problem.m < first.tile_m:
        tile_m = max(4, _power_of_two(problem.m))
        vector = min(first.vector_store, tile_m)
        yield replace(first, tile_m=tile_m, tile_n=256, vector_store=vector, rows_per_thread=min(8, tile_m))


def _power_of_two(value: int) -> int:
    """The least one that is not below a value."""
    return 1 << max(0, value - 1).bit_length()


def checks(problem: TransposeProblem, schedule: TransposeSchedule) -> list[tuple[TransposeProblem, TransposeSchedule]]:
    """Whole tiles, aligned as the problem's; and edges on both sides, in two batches, just aligned enough."""
    m, n, size = schedule.tile_m, schedule.tile_n, problem.element_bytes
    whole = TransposeProblem(2 * m, 2 * n, size, align_a=problem.align_a, align_b=problem.align_b)
    ragged = TransposeProblem(
        m + m // 2 + 1,
        2 * n + n // 2 + 1,
        size,
        batch=2,
        lda=round_up(2 * n + n // 2 + 1, schedule.vector_load),
        ldb=round_up(m + m // 2 + 1, schedule.vector_store),
        align_a=schedule.vector_load * size,
        align_b=schedule.vector_store * size,
    )
    return [(whole, schedule), (ragged, schedule)]
