"""sgemm: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any

from ..codegen.schedule import Specialize
from ..codegen.sgemm.emit import emit, emit_naive
from ..codegen.sgemm.presets import PRESETS, fitted
from ..codegen.sgemm.problem import SgemmProblem
from ..codegen.sgemm.schedule import FfmaOrder, LaneMap, SgemmSchedule, Transport, strip_width
from .limits import DeviceLimits
from .occupancy import occupancy
from .operator import Operator
from .resources import resource_violations
from .space import Draw, Parameter, Space

_GRID_BLOCKS = 2**31 - 1
_WORKSPACE_BYTES = 2**30
# Registers for addresses, counters and predicates, as ptxas used them beyond the arrays in 16×8 and 8×8 thread tiles.
_ADDRESS_REGISTERS = 30


def violations(problem: SgemmProblem, schedule: SgemmSchedule, limits: DeviceLimits) -> list[str]:
    """What makes a schedule illegal for a problem on a device; nothing if it is legal."""
    found = list(_tile_violations(schedule))
    if not found:
        found += _access_violations(problem, schedule)
        found += _pipeline_violations(schedule, limits)
        found += _grid_violations(problem, schedule)
        found += _resource_violations(problem, schedule, limits)
    return found


def _tile_violations(schedule: SgemmSchedule) -> Iterator[str]:
    """Tiles that do not nest; nothing else can be said of those."""
    for field in fields(schedule):
        value = getattr(schedule, field.name)
        lowest = 0 if field.name.startswith("pad_") else 1
        if type(value) is int and value < lowest:
            yield f"{field.name} {value} is less than {lowest}"
            return
    for outer, inner in (("block", "warp"), ("warp", "thread")):
        for side in "mn":
            large, small = getattr(schedule, f"{outer}_{side}"), getattr(schedule, f"{inner}_{side}")
            if large % small:
                yield f"{outer}_{side} {large} is not a multiple of {inner}_{side} {small}"
    lanes = schedule.warp_m // schedule.thread_m * (schedule.warp_n // schedule.thread_n)
    if lanes != 32:
        yield (
            f"a warp of {schedule.warp_m}×{schedule.warp_n} with threads of {schedule.thread_m}×{schedule.thread_n} "
            f"has {lanes} lanes instead of 32"
        )
    if schedule.block_k % 4:
        yield f"block_k {schedule.block_k} is not a multiple of 4"


def _access_violations(problem: SgemmProblem, schedule: SgemmSchedule) -> Iterator[str]:
    """Vectors and shared-memory layouts of A, B and C."""
    for operand, side in (("a", "m"), ("b", "n"), ("c", "n")):
        vector, widest = getattr(schedule, f"vector_{operand}"), problem.vector_width(operand)
        if vector not in (1, 2, 4):
            yield f"vector_{operand} {vector} is not 1, 2 or 4"
        elif vector > widest:
            yield f"vector_{operand} {vector} over the {widest} words that {operand.upper()} is aligned for"
        elif operand == "c":
            strip = strip_width(schedule.thread_n)
            if vector > strip:
                yield f"vector_c {vector} over the {strip} words of a strip of thread_n {schedule.thread_n}"
        else:
            yield from _operand_violations(problem, schedule, operand, side)


def _operand_violations(problem: SgemmProblem, schedule: SgemmSchedule, operand: str, side: str) -> Iterator[str]:
    extent: int = getattr(schedule, f"block_{side}")
    vector: int = getattr(schedule, f"vector_{operand}")
    pad: int = getattr(schedule, f"pad_{operand}")
    strip = strip_width(getattr(schedule, f"thread_{side}"))
    along_k = problem.along_k(operand)
    if along_k:
        if getattr(schedule, f"transport_{operand}") is Transport.ASYNC_COPY and vector > 1:
            yield f"an asynchronous copy transposes word by word: vector_{operand} {vector} is not 1"
    elif extent % vector:
        yield f"block_{side} {extent} is not a multiple of vector_{operand} {vector}"
    aligned = strip if along_k else max(strip, vector)
    if pad % aligned:
        yield f"pad_{operand} {pad} is not a multiple of the {aligned} words that are accessed at once"
    if getattr(schedule, f"swizzle_{operand}"):
        if pad:
            yield f"swizzle_{operand} excludes pad_{operand} {pad}"
        if extent % 32:
            yield f"swizzle_{operand} needs a block_{side} that is a multiple of 32, not {extent}"
        if schedule.block_k & (schedule.block_k - 1):
            yield f"swizzle_{operand} needs a block_k that is a power of two, not {schedule.block_k}"


def _pipeline_violations(schedule: SgemmSchedule, limits: DeviceLimits) -> Iterator[str]:
    if schedule.double_buffer_fragments and schedule.stages == 1:
        yield "double_buffer_fragments needs 2 stages or more, not 1"
    if schedule.copy_steps > schedule.block_k:
        yield f"copy_steps {schedule.copy_steps} over the {schedule.block_k} steps of block_k"
    if schedule.copy_steps > 1 and (not schedule.asynchronous or schedule.stages == 1):
        yield f"copy_steps {schedule.copy_steps} needs asynchronous copies of A and B, and 2 stages or more"
    if Transport.ASYNC_COPY in (schedule.transport_a, schedule.transport_b) and limits.compute_capability < (8, 0):
        yield f"cp.async needs sm_80 or newer, not {limits.arch}"
    if schedule.ffma_order is FfmaOrder.ZIGZAG and (schedule.thread_m % 2 or schedule.thread_n % 2):
        yield f"zigzag needs an even thread tile, not {schedule.thread_m}×{schedule.thread_n}"


def _grid_violations(problem: SgemmProblem, schedule: SgemmSchedule) -> Iterator[str]:
    tiles_k = max(1, -(-problem.k // schedule.block_k))
    if schedule.split_k > tiles_k:
        yield f"split_k {schedule.split_k} over the {tiles_k} tiles along k"
    tiles = -(-problem.m // schedule.block_m) * -(-problem.n // schedule.block_n) * problem.batch
    if tiles * schedule.split_k > _GRID_BLOCKS:
        yield f"{tiles * schedule.split_k} blocks over the {_GRID_BLOCKS} of a grid"
    workspace = 4 * schedule.split_k * tiles * schedule.block_m * schedule.block_n
    if schedule.split_k > 1 and workspace > _WORKSPACE_BYTES:
        yield f"split_k {schedule.split_k} needs {workspace} B of workspace, over {_WORKSPACE_BYTES} B"


def estimated_registers(schedule: SgemmSchedule) -> int:
    """Registers of a thread before compiling: accumulators, fragments, tiles on their way, and addresses."""
    fragments = (schedule.thread_m + schedule.thread_n) * (2 if schedule.double_buffer_fragments else 1)
    staged = schedule.staged_words("a") + schedule.staged_words("b")
    return schedule.thread_m * schedule.thread_n + fragments + staged + _ADDRESS_REGISTERS


def _resource_violations(problem: SgemmProblem, schedule: SgemmSchedule, limits: DeviceLimits) -> Iterator[str]:
    registers, shared_bytes = estimated_registers(schedule), schedule.shared_bytes(problem)
    return resource_violations(limits, schedule.threads, registers, shared_bytes, schedule.min_blocks)


# ---- what to draw from ----------------------------------------------------------------------------------------------

_LAYOUTS = {"plain": (0, False), "pad4": (4, False), "pad8": (8, False), "pad16": (16, False), "swizzle": (0, True)}
_SAME = ("block_k", "lane_map", "vector_c", "ffma_order", "group_m", "split_k", "specialize")
_THREADS = ("4×4", "4×8", "8×4", "4×16", "16×4", "8×8", "8×12", "12×8", "8×16", "16×8", "12×12")


def space(problem: SgemmProblem, limits: DeviceLimits) -> Space[SgemmSchedule]:
    """Warps, lanes and thread tiles are drawn and the block follows, so that tiles nest.

    `stages`, `min_blocks` and `copy_steps` are what is wanted at most: fewer are built where there is no more.
    """
    parameters = (
        Parameter("warps_m", (1, 2, 4)),
        Parameter("warps_n", (1, 2, 4, 8)),
        Parameter("lanes_m", (2, 4, 8, 16)),
        Parameter("thread", _THREADS),
        Parameter("block_k", (8, 16, 32)),
        Parameter("lane_map", tuple(map(str, LaneMap))),
        Parameter("layout_a", tuple(_LAYOUTS)),
        Parameter("layout_b", tuple(_LAYOUTS)),
        Parameter("stages", (1, 2, 3, 4)),
        Parameter("double_buffer_fragments", (False, True)),
        Parameter("copy_a", _copies(problem, limits, "a")),
        Parameter("copy_b", _copies(problem, limits, "b")),
        Parameter("copy_steps", (1, 4, 8, 16)),
        Parameter("vector_c", _widths(problem, "c")),
        Parameter("ffma_order", tuple(map(str, FfmaOrder))),
        Parameter("group_m", (1, 2, 4, 8, 16)),
        Parameter("split_k", _splits(problem, limits)),
        Parameter("min_blocks", (1, 2, 3, 4)),
        Parameter("specialize", tuple(map(str, Specialize))),
    )
    return Space(parameters, partial(_build, problem, limits), _draw_of)


def _widths(problem: SgemmProblem, operand: str) -> tuple[int, ...]:
    return tuple(width for width in (1, 2, 4) if width <= problem.vector_width(operand))


def _copies(problem: SgemmProblem, limits: DeviceLimits, operand: str) -> tuple[str, ...]:
    """Transport and vector width together: what is possible depends on both."""
    widths = _widths(problem, operand)
    copies = [f"{Transport.REGISTERS} {width}" for width in widths]
    if limits.compute_capability >= (8, 0):
        asynchronous = widths[:1] if problem.along_k(operand) else widths
        copies += [f"{Transport.ASYNC_COPY} {width}" for width in asynchronous]
    return tuple(copies)


def _splits(problem: SgemmProblem, limits: DeviceLimits) -> tuple[int, ...]:
    """Slices of 64 words or more, as long as tiles of 64×64 would not fill the device eight times by themselves."""
    tiles = -(-problem.m // 64) * -(-problem.n // 64) * problem.batch
    useful = min(problem.k // 64, 8 * limits.sm_count // max(1, tiles))
    return tuple(split for split in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256, 512) if split <= max(1, useful))


def _build(problem: SgemmProblem, limits: DeviceLimits, draw: Draw) -> SgemmSchedule:
    values: dict[str, Any] = {name: draw[name] for name in _SAME}
    values["thread_m"], values["thread_n"] = map(int, str(draw["thread"]).split("×"))
    for side, lanes in (("m", int(draw["lanes_m"])), ("n", 32 // int(draw["lanes_m"]))):
        values[f"warp_{side}"] = lanes * values[f"thread_{side}"]
        values[f"block_{side}"] = values[f"warp_{side}"] * int(draw[f"warps_{side}"])
    for operand in "ab":
        values[f"pad_{operand}"], values[f"swizzle_{operand}"] = _LAYOUTS[str(draw[f"layout_{operand}"])]
        values[f"transport_{operand}"], width = str(draw[f"copy_{operand}"]).split()
        values[f"vector_{operand}"] = int(width)
    one_stage = SgemmSchedule.from_dict(values | {"stages": 1, "double_buffer_fragments": False, "copy_steps": 1})
    stages = min(int(draw["stages"]), max(1, limits.shared_per_block // one_stage.shared_bytes(problem)))
    fragments = bool(draw["double_buffer_fragments"]) and stages > 1
    steps = min(int(draw["copy_steps"]), one_stage.block_k) if one_stage.asynchronous and stages > 1 else 1
    staged = replace(one_stage, stages=stages, double_buffer_fragments=fragments, copy_steps=steps)
    fit = occupancy(limits, staged.threads, estimated_registers(staged), staged.shared_bytes(problem))
    return replace(staged, min_blocks=max(1, min(int(draw["min_blocks"]), fit.blocks_per_sm)))


def _draw_of(schedule: SgemmSchedule) -> Draw:
    values = schedule.to_dict()
    draw = {name: values[name] for name in (*_SAME, "stages", "double_buffer_fragments", "copy_steps", "min_blocks")}
    draw["thread"] = f"{schedule.thread_m}×{schedule.thread_n}"
    draw["lanes_m"] = schedule.warp_m // schedule.thread_m
    for side in "mn":
        draw[f"warps_{side}"] = values[f"block_{side}"] // values[f"warp_{side}"]
    names = {layout: name for name, layout in _LAYOUTS.items()}
    for operand in "ab":
        draw[f"layout_{operand}"] = names.get((values[f"pad_{operand}"], values[f"swizzle_{operand}"]), "other")
        draw[f"copy_{operand}"] = f"{values[f'transport_{operand}']} {values[f'vector_{operand}']}"
    return draw


# ---- what to try first ----------------------------------------------------------------------------------------------

_BASE = SgemmSchedule(block_k=16, pad_a=8, transport_b=Transport.ASYNC_COPY)
_TALL = replace(
    _BASE, block_m=64, block_n=256, warp_m=64, warp_n=64, thread_m=16, min_blocks=2, specialize=Specialize.SHAPE
)
_LARGE = replace(_TALL, block_m=128, min_blocks=1)
_STREAMED = replace(_LARGE, transport_a=Transport.ASYNC_COPY, vector_a=1, pad_a=4, copy_steps=8)
# From large to small, for problems that a larger one would not fill the device with.
_CUSTOMARY = (
    _BASE,
    replace(_BASE, block_n=64),
    replace(_BASE, block_m=64, block_n=64, min_blocks=2),
    replace(_BASE, block_m=32, block_n=64, thread_m=4, warp_m=16),
    replace(_BASE, block_m=16, block_n=64, block_k=32, thread_m=4, thread_n=4, warp_m=16, warp_n=32, pad_a=4),
)
# As measured at 4096³ on an H200, best first, within 3 % of each other: 128×256, 256×128 and 64×256 tiles of 16×8 a
# thread. Tiles that others found good there follow: 256×64×16, and 128×256×8 (salykova, sgemm.cu, 2025). The
# customary 128×128 tile of 8×8 and smaller ones are for problems that those cannot fill.
_WINNERS = (
    _STREAMED,
    _LARGE,
    replace(_STREAMED, block_m=256, block_n=128, copy_steps=16, stages=3),
    replace(_STREAMED, block_m=64, block_k=8, min_blocks=2, stages=3),
    _TALL,
    replace(_TALL, thread_m=8, thread_n=16),
    replace(_TALL, block_m=256, block_n=64, warp_m=128, warp_n=32),
    replace(_LARGE, block_k=8, pad_a=16),
    *_CUSTOMARY,
)
# For few rows, as measured at 16×8192×28672 there: a tile that streams B.
_SKINNY = replace(
    _BASE, block_m=16, block_n=128, block_k=32, warp_m=8, warp_n=128, thread_m=4, lane_map=LaneMap.ROW_MAJOR,
    double_buffer_fragments=False, group_m=4, min_blocks=2,
)  # fmt: skip
_STREAMING = (_SKINNY, replace(_SKINNY, stages=4), replace(_BASE, block_n=32, block_k=8, warp_m=64, warp_n=32))


def _adapted(problem: SgemmProblem, schedule: SgemmSchedule, limits: DeviceLimits) -> SgemmSchedule:
    """The schedule with accesses and copies that this problem and this device have."""
    schedule = fitted(problem, schedule)
    changes: dict[str, Any] = {}
    for operand in "ab":
        if limits.compute_capability < (8, 0):
            changes[f"transport_{operand}"] = Transport.REGISTERS
        elif getattr(schedule, f"transport_{operand}") is Transport.ASYNC_COPY and problem.along_k(operand):
            changes[f"vector_{operand}"] = 1
    return replace(schedule, **changes)


def seeds(problem: SgemmProblem, limits: DeviceLimits) -> list[SgemmSchedule]:
    """The known winners that are legal here, and the default if it is none of them.

    Tiles that are too few to fill the device are split along k, into one block for each SM and into two. Tiles that
    are mostly outside of the matrix are left out.
    """
    known = (schedule for schedule in (*_WINNERS, *_STREAMING) if _mostly_inside(problem, schedule))
    adapted = [_adapted(problem, schedule, limits) for schedule in known]
    split = [_split(problem, schedule, limits, waves) for schedule in adapted for waves in (1, 2)]
    legal = [schedule for schedule in split if not violations(problem, schedule, limits)]
    return list(dict.fromkeys([*legal, default(problem, limits)]))


def default(problem: SgemmProblem, limits: DeviceLimits) -> SgemmSchedule:
    """The largest customary tile that fills the device; a small one, split along k, if none does."""
    candidates = [_adapted(problem, schedule, limits) for schedule in _CUSTOMARY]
    for schedule in candidates:
        if _tiles(problem, schedule) >= limits.sm_count:
            return schedule
    return _split(problem, candidates[-2], limits, waves=1)


def _mostly_inside(problem: SgemmProblem, schedule: SgemmSchedule) -> bool:
    return schedule.block_m < max(32, 2 * problem.m) and schedule.block_n <= max(64, 2 * problem.n)


def _split(problem: SgemmProblem, schedule: SgemmSchedule, limits: DeviceLimits, waves: int) -> SgemmSchedule:
    """The schedule, split along k until there are `waves` blocks for each SM, if its tiles are fewer."""
    tiles = _tiles(problem, schedule)
    if tiles >= limits.sm_count:
        return schedule
    wanted = max(1, waves * limits.sm_count // max(1, tiles))
    return replace(schedule, split_k=max(split for split in _splits(problem, limits) if split <= wanted))


def _tiles(problem: SgemmProblem, schedule: SgemmSchedule) -> int:
    return -(-problem.m // schedule.block_m) * -(-problem.n // schedule.block_n) * problem.batch


def check_problems(problem: SgemmProblem, schedule: SgemmSchedule) -> list[SgemmProblem]:
    """Whole tiles; and edges with tails on all sides, in two batches, with C read."""
    depth = schedule.block_k * (schedule.split_k + schedule.stages)
    whole = _small(problem, schedule, schedule.block_m, schedule.block_n, depth)
    ragged = _small(problem, schedule, schedule.block_m + 3, schedule.block_n // 2 + 1, depth - schedule.block_k + 3)
    return [whole, replace(ragged, batch=2, stride_c=ragged.m * ragged.ldc, read_c=True)]


def _small(problem: SgemmProblem, schedule: SgemmSchedule, m: int, n: int, k: int) -> SgemmProblem:
    """A problem in the layout of another, with rows that are just aligned enough for the schedule's vectors."""
    columns = {"a": m if problem.transpose_a else k, "b": k if problem.transpose_b else n, "c": n}
    shape: dict[str, Any] = {}
    for operand, length in columns.items():
        vector = getattr(schedule, f"vector_{operand}")
        shape[f"ld{operand}"] = -(-length // vector) * vector
        shape[f"align_{operand}"] = 4 * vector
    return replace(SgemmProblem(m, n, k, problem.transpose_a, problem.transpose_b), **shape)


OPERATOR = Operator(
    name="sgemm",
    summary="C = alpha·op(A)·op(B) + beta·C in FP32",
    problem_type=SgemmProblem,
    schedule_type=SgemmSchedule,
    violations=violations,
    emit=emit,
    reference=partial(emit_naive, coalesced=True, number="double"),
    space=space,
    default=default,
    seeds=seeds,
    presets=PRESETS,
    check_problems=check_problems,
)
