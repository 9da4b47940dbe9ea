"""transpose: which schedules are legal, which to draw from, and what proves one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import SECTOR_BYTES, WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import group_violations

_THREADS = (64, 128, 256, 512)
_NARROW = 16  # rows or columns


def constraints(problem: TransposeProblem, schedule: TransposeSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    if found := list(_tile_violations(schedule)):
        return found
    found += _access_violations(problem, schedule)
    found += _overlap_violations(problem, schedule)
    return found or list(group_violations(schedule.raster_group, schedule.tiles(problem)[1]))


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
        for name in ("pad", "align_stores", "align_loads"):
            if value := getattr(schedule, name):
                yield f"swizzle excludes {name} {value}"
        if schedule.tile_m & (schedule.tile_m - 1):
            yield f"swizzle needs a power of two, not tile_m {schedule.tile_m}"


def _access_violations(problem: TransposeProblem, schedule: TransposeSchedule) -> Iterator[str]:
    for operand, name, align in (("a", "vector_load", "align_loads"), ("b", "vector_store", "align_stores")):
        vector, widest = getattr(schedule, name), problem.vector_width(operand)
        if aligned := getattr(schedule, align):
            widest = min(aligned, WIDEST_ACCESS) // problem.element_bytes
        if vector > widest:
            yield f"{name} {vector} over the {widest} elements that {operand.upper()} is aligned for"


def _overlap_violations(problem: TransposeProblem, schedule: TransposeSchedule) -> Iterator[str]:
    overlap, overlap_n = schedule.overlaps(problem.element_bytes)
    if schedule.tile_n <= overlap_n:
        yield f"tile_n {schedule.tile_n} is not over the {overlap_n} elements in align_loads {schedule.align_loads}"
    if overlap and (schedule.tile_m <= overlap or schedule.tile_m % overlap):
        yield (
            f"tile_m {schedule.tile_m}: expected a multiple of the {overlap} elements in align_stores "
            f"{schedule.align_stores}, and more"
        )


# ---- what to draw from ----------------------------------------------------------------------------------------------


def space(problem: TransposeProblem, spec: DeviceSpec) -> Space[TransposeSchedule]:
    """Threads, their arrangement and their micro-tiles are drawn and the tile follows, so that tiles always fill.

    Tiles of a narrow matrix are as wide as the matrix. Stores are aligned where rows of B begin within sectors, loads
    where rows of A begin within the widest vectors.
    """
    size = problem.element_bytes
    widths_a, widths_b, widest = widths(problem, "a"), widths(problem, "b"), _up_to(WIDEST_ACCESS // size)
    across = narrow_side(problem)
    begin_anywhere_a = not across and widths_a != widest
    begin_anywhere_b = across != "m" and stores_within_sectors(problem)
    vectors_a = widest if begin_anywhere_a else widths_a
    vectors_b = widest if begin_anywhere_b else widths_b
    arrangement: dict[str, tuple[Value, ...]] = {
        "threads": _THREADS,
        "lanes_n": (4, 8, 16, 32, 64) if len(widths_a) > 1 else (4, 8, 16, 32, 64, 128),
        "micro_tiles": (1, 2, 4, 8),
        "layout": ("plain", "padded", "swizzled"),
    }
    if across == "n":
        arrangement |= {"threads": narrow_threads(problem.n), "lanes_n": (problem.n,)}
        vectors_a = (1,)
    elif across == "m":
        arrangement |= {"lanes_n": _THREADS, "micro_tiles": (problem.m,), "layout": ("plain", "padded")}
        del arrangement["threads"]
        vectors_b = (1,)
    parameters = (
        *(Parameter(name, values) for name, values in arrangement.items()),
        *field_parameters(
            TransposeSchedule,
            vector_load=vectors_a,
            vector_store=vectors_b,
            **({} if begin_anywhere_a else {"align_loads": (0,)}),
            **({} if begin_anywhere_b else {"align_stores": (0,)}),
        ),
    )

    def build(draw: Draw) -> TransposeSchedule:
        same = {name: value for name, value in draw.items() if name in field_specs(TransposeSchedule)}
        schedule = TransposeSchedule.from_dict(same)
        threads = int(draw.get("threads", draw["lanes_n"]))
        lanes_n = min(int(draw["lanes_n"]), threads)
        micro_tiles = threads // lanes_n * int(draw["micro_tiles"])
        if micro_tiles * schedule.vector_store <= schedule.overlaps(size)[0]:
            schedule = replace(schedule, align_stores=0)
        if not size < schedule.align_loads < lanes_n * schedule.vector_load * size:
            schedule = replace(schedule, align_loads=0)
        _, overlap_n = schedule.overlaps(size)
        schedule = replace(schedule, vector_load=min(schedule.vector_load, overlap_n or widths_a[-1]))
        if not schedule.align_stores:
            schedule = replace(schedule, vector_store=min(schedule.vector_store, widths_b[-1]))
        rows = int(draw["micro_tiles"]) * schedule.vector_store
        tile_m, tile_n = micro_tiles * schedule.vector_store, lanes_n * schedule.vector_load
        schedule = replace(schedule, rows_per_thread=rows, tile_m=tile_m, tile_n=tile_n)
        if draw["layout"] == "padded":
            return replace(schedule, pad=schedule.overlaps(size)[0] or schedule.group_shift(size))
        aligned = schedule.align_stores or schedule.align_loads
        return replace(schedule, swizzle=draw["layout"] == "swizzled" and not aligned)

    return Space(parameters, build)


def widths(problem: TransposeProblem, operand: str) -> tuple[int, ...]:
    """Elements of the vectors that rows of an operand are aligned for."""
    return _up_to(problem.vector_width(operand))


def _up_to(widest: int) -> tuple[int, ...]:
    return tuple(width for width in ELEMENT_BYTES if width <= widest)


def narrow_side(problem: TransposeProblem) -> str:
    """The side that tiles of the usual sizes do not fill: ``m``, ``n`` or none."""
    side = min(problem.m, problem.n)
    if not 1 <= side < _NARROW or (side >= 8 and side & (side - 1) == 0):
        return ""
    return "m" if problem.m <= problem.n else "n"


def narrow_threads(n: int) -> tuple[int, ...]:
    """Whole warps that are whole rows of n threads."""
    return tuple(n * rows for rows in (32, 64, 128, 256, 512) if _THREADS[0] <= n * rows <= _THREADS[-1])


def stores_within_sectors(problem: TransposeProblem) -> bool:
    """Whether rows of B begin within sectors."""
    return problem.align_b < WIDEST_ACCESS or any(
        step * problem.element_bytes % SECTOR_BYTES for step in (problem.ldb, problem.stride_b)
    )


# ---- what proves a schedule -----------------------------------------------------------------------------------------


def checks(problem: TransposeProblem, schedule: TransposeSchedule) -> list[tuple[TransposeProblem, TransposeSchedule]]:
    """Whole tiles, aligned as the problem's; and edges on both sides, in two batches, just aligned enough."""
    m, n, size = schedule.tile_m, schedule.tile_n, problem.element_bytes
    load = 1 if schedule.align_loads else schedule.vector_load
    store = 1 if schedule.align_stores else schedule.vector_store
    whole = TransposeProblem(2 * m, 2 * n, size, align_a=problem.align_a, align_b=problem.align_b)
    ragged = TransposeProblem(
        m + m // 2 + 1,
        2 * n + n // 2 + 1,
        size,
        batch=2,
        lda=round_up(2 * n + n // 2 + 1, load),
        ldb=round_up(m + m // 2 + 1, store),
        align_a=load * size,
        align_b=store * size,
    )
    return [(whole, schedule), (ragged, schedule)]
