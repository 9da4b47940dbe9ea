"""transpose: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...codegen.integers import ceil_div, round_up
from ...codegen.layout.transpose.emit import blocks, emit, emit_naive
from ...codegen.layout.transpose.presets import PRESETS, vectorised
from ...codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from ...codegen.layout.transpose.schedule import WARP, TransposeSchedule
from ...codegen.schedule import Specialize
from ..device_spec import DeviceSpec
from ..occupancy import occupancy
from ..operator import Operator
from ..resources import group_violations, resource_violations
from ..space import Draw, Parameter, Space
from ..workload import Workload
from .transpose_baselines import BASELINES
from .transpose_call import CALL
from .transpose_derivative import DERIVATIVE

_GRID_BLOCKS = 2**31 - 1
# Registers beside the loaded rows with which ptxas still keeps all loads of a 64×64 tile in flight.
_ADDRESS_REGISTERS = 16


def violations(problem: TransposeProblem, schedule: TransposeSchedule, limits: DeviceSpec) -> list[str]:
    """What makes a schedule illegal for a problem on a device; nothing if it is legal."""
    found = list(_field_violations(schedule)) or list(_tile_violations(schedule))
    if not found:
        found += _access_violations(problem, schedule)
        if blocks(problem, schedule) > _GRID_BLOCKS:
            found.append(f"{blocks(problem, schedule)} blocks over the {_GRID_BLOCKS} of a grid")
        found += group_violations(schedule.raster_group, ceil_div(problem.n, schedule.tile_n))
        shared_bytes = schedule.shared_bytes(problem.element_bytes)
        registers = estimated_registers(problem, schedule)
        found += resource_violations(limits, schedule.threads, registers, shared_bytes, schedule.min_blocks_per_sm)
    return found


def _field_violations(schedule: TransposeSchedule) -> Iterator[str]:
    """Values that make no sense by themselves."""
    for name in ("tile_m", "tile_n", "rows_per_thread", "vector_load", "vector_store"):
        value: int = getattr(schedule, name)
        if value < 1 or value & (value - 1):
            yield f"{name} {value} is not a power of two"
    for name, least in (("pad", 0), ("raster_group", 1), ("min_blocks_per_sm", 1)):
        if getattr(schedule, name) < least:
            yield f"{name} {getattr(schedule, name)} is less than {least}"


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


def estimated_registers(problem: TransposeProblem, schedule: TransposeSchedule) -> int:
    """Registers of a thread before compiling: the rows that it loads before it stores any, and addresses."""
    words_of_a_row = max(1, schedule.vector_load * problem.element_bytes // 4)
    return schedule.rows_per_thread * words_of_a_row + _ADDRESS_REGISTERS


# ---- what to draw from ----------------------------------------------------------------------------------------------

_SAME = ("vector_load", "vector_store", "raster_group", "streaming", "min_blocks_per_sm", "specialize")


def space(problem: TransposeProblem, limits: DeviceSpec) -> Space[TransposeSchedule]:
    """Threads, their arrangement and their micro-tiles are drawn and the tile follows, so that tiles always fill."""
    parameters = (
        Parameter("threads", (64, 128, 256, 512)),
        Parameter("lanes_n", (4, 8, 16, 32, 64)),
        Parameter("micro_tiles", (1, 2, 4, 8)),
        Parameter("vector_load", _widths(problem, "a")),
        Parameter("vector_store", _widths(problem, "b")),
        Parameter("layout", ("plain", "padded", "swizzled")),
        Parameter("raster_group", (1, 2, 4, 8, 16, 32, 64, 256)),
        Parameter("streaming", (False, True)),
        Parameter("min_blocks_per_sm", (1, 2, 3, 4, 6, 8)),
        Parameter("specialize", tuple(map(str, Specialize))),
    )

    def build(draw: Draw) -> TransposeSchedule:
        rows = int(draw["micro_tiles"]) * int(draw["vector_store"])
        values = {name: draw[name] for name in _SAME}
        values["rows_per_thread"] = rows
        values["tile_m"] = int(draw["threads"]) // int(draw["lanes_n"]) * rows
        values["tile_n"] = int(draw["lanes_n"]) * int(draw["vector_load"])
        schedule = TransposeSchedule.from_dict(values)
        if draw["layout"] == "padded":
            return replace(schedule, pad=schedule.group_shift(problem.element_bytes))
        return replace(schedule, swizzle=draw["layout"] == "swizzled")

    def draw_of(schedule: TransposeSchedule) -> Draw:
        values = schedule.to_dict()
        layout = "swizzled" if schedule.swizzle else "padded" if schedule.pad else "plain"
        return {
            "threads": schedule.threads,
            "lanes_n": schedule.lanes_n,
            "micro_tiles": schedule.rows_per_thread // schedule.vector_store,
            "layout": layout,
            **{name: values[name] for name in _SAME},
        }

    return Space(parameters, build, draw_of)


def _widths(problem: TransposeProblem, operand: str) -> tuple[int, ...]:
    return tuple(width for width in ELEMENT_BYTES if width <= problem.vector_width(operand))


# ---- what to try first ----------------------------------------------------------------------------------------------


def default(problem: TransposeProblem, limits: DeviceSpec) -> TransposeSchedule:
    """The widest accesses in a tile of 8 or 16 KiB, of which any SM holds a few."""
    return vectorised(problem)


def seeds(problem: TransposeProblem, limits: DeviceSpec) -> list[TransposeSchedule]:
    """Variants of the default: caches told that data is used once, other tiles, more rows in flight, other orders.

    The default is last: 4096×8192 words take it 90 µs on an H200, and 67 to 73 µs the others, which are streaming.
    """
    first = vectorised(problem)
    tall, broad = replace(first, tile_m=2 * first.tile_m), replace(first, tile_n=2 * first.tile_n)
    deep = replace(first, rows_per_thread=2 * first.rows_per_thread)
    large = replace(deep, tile_m=2 * first.tile_m, tile_n=2 * first.tile_n)
    candidates = []
    for shape in (first, tall, broad, deep, large):
        streaming = replace(shape, streaming=True)
        candidates += [streaming, replace(streaming, raster_group=8), replace(streaming, specialize=Specialize.SHAPE)]
    candidates.append(first)
    drawn = space(problem, limits)
    return list(dict.fromkeys(s for s in candidates if s in drawn and not violations(problem, s, limits)))


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


def workload(problem: TransposeProblem, schedule: TransposeSchedule, limits: DeviceSpec) -> Workload:
    """A block moves its tile in one step, to which little but its bytes matters."""
    shared_bytes = schedule.shared_bytes(problem.element_bytes)
    fit = occupancy(limits, schedule.threads, estimated_registers(problem, schedule), shared_bytes)
    tile_bytes = schedule.tile_m * schedule.tile_n * problem.element_bytes
    return Workload(
        blocks=blocks(problem, schedule),
        warps=schedule.threads // WARP,
        resident=max(1, fit.blocks_per_sm),
        bytes_loaded=tile_bytes,
        bytes_stored=tile_bytes,
    )


OPERATOR = Operator(
    name="transpose",
    summary="B[batch][n][m] = A[batch][m][n], out of place",
    problem_type=TransposeProblem,
    schedule_type=TransposeSchedule,
    violations=violations,
    emit=emit,
    reference=emit_naive,
    space=space,
    default=default,
    seeds=seeds,
    presets=PRESETS,
    checks=checks,
    workload=workload,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
