"""What a sampler of gemm schedules draws from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import LEAST_HALVES, PRODUCT_BYTES, GemmSchedule
from autotune.codegen.matmul.gemm.schedule_fields import PRODUCT_M, Instruction
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm

from . import preparation
from .legal import MOST_SUMS
from .promotion import promoted
from .wgmma_legal import takes_whole_tiles
from .wgmma_space import TILE_COLUMNS, TILE_ROWS, build, cluster_ks, columns_fit, has_wgmma, rows_fit, swaps

_WARPS = (1, 2, 4)
SHARED = "shared"  # a grid whose blocks share tiles beyond whole waves
_LEAST_STEPS = 4  # along k of a part of a tile that blocks share
_SPARE_REGISTERS = 20  # beyond the footprint, with which ptxas spills nothing


def space(problem: GemmProblem, spec: DeviceSpec) -> Space[GemmSchedule]:
    """Warps and their tiles are drawn, and the block follows, so that tiles nest.

    Vectors are as wide as possible. All other draws are upper bounds: the schedule gets as much as fits.
    """
    wgmma = has_wgmma(problem, spec)
    instructions = tuple(Instruction) if wgmma else (Instruction.MMA_SYNC,)
    searched = {name for name, one in field_specs(GemmSchedule).items() if one.values}
    fewer: dict[str, Sequence[Value]] = {
        "instruction": instructions,
        "cluster_k": cluster_ks(problem, spec),
        "swap": swaps(problem),
    }
    if not wgmma:
        fewer |= {name: (getattr(GemmSchedule, name),) for name in searched & {*GemmSchedule().unused}}
    parameters = (
        Parameter("warps_m", _WARPS),
        Parameter("warps_n", _WARPS),
        Parameter("tile_m", TILE_ROWS if wgmma else TILE_ROWS[:1]),
        Parameter("tile_n", TILE_COLUMNS if wgmma else TILE_COLUMNS[:1]),
        Parameter("grid", (*_grids(problem, spec), *((f"{SHARED}·1",) if wgmma else ()))),
        Parameter("block_k", block_ks(problem)),
        *(Parameter(f"prepare_{operand}", preparation.choices(problem, operand)) for operand in "ab"),
        *(one for one in field_parameters(GemmSchedule, **fewer) if one.name != "block_k"),
    )

    def fits_grid(schedule: GemmSchedule, grid: Value) -> bool:
        return on_grid(problem, spec, schedule, str(grid)) == schedule

    def fits_rows(schedule: GemmSchedule, rows: Value) -> bool:
        return rows_fit(schedule, int(rows))

    def fits_columns(schedule: GemmSchedule, columns: Value) -> bool:
        return columns_fit(problem, schedule, int(columns))

    fits = {"grid": fits_grid, "tile_m": fits_rows, "tile_n": fits_columns}
    return Space(parameters, partial(_build, problem, spec), fits=fits)


def block_ks(problem: GemmProblem) -> tuple[int, ...]:
    """Terms in a stage: the field's values are for elements of 2 bytes, others have as many bytes."""
    return tuple(value * 2 // problem.dtype.bytes for value in field_specs(GemmSchedule)["block_k"].values)


def _build(problem: GemmProblem, spec: DeviceSpec, draw: Draw) -> GemmSchedule:
    if draw["instruction"] == Instruction.WGMMA:
        return on_grid(problem, spec, build(problem, spec, draw), str(draw["grid"]))
    unused = GemmSchedule().unused
    values = {name: value for name, value in draw.items() if name in field_specs(GemmSchedule) and name not in unused}
    warps_m, warps_n = int(draw["warps_m"]), int(draw["warps_n"])
    blocks = {f"block_{side}": int(draw[f"warp_{side}"]) * int(draw[f"warps_{side}"]) for side in "mn"}
    schedule = fitted(problem, GemmSchedule.from_dict(values | blocks), spec, (warps_m, warps_n))
    return on_grid(problem, spec, schedule, str(draw["grid"]))


def fitted(
    problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec, warps: tuple[int, int] | None = None
) -> GemmSchedule:
    """The schedule with the widest vectors, and no more of anything else than there is room for."""
    warps_m, warps_n = warps or (schedule.warps_m, schedule.warps_n)
    problem = product(problem, schedule)
    vectors: dict[str, Any] = {f"vector_{operand}": problem.vector_width(operand) for operand in "abd"}
    warp_m, warp_n = schedule.warp_m, schedule.warp_n
    if not problem.along_k("a"):
        warp_m = min(warp_m, WARP * warps_n * vectors["vector_a"])
    if not problem.along_k("b"):
        warp_n = min(warp_n, WARP * warps_m * vectors["vector_b"])
    if problem.gate is Gate.HALVES:
        warp_n = max(warp_n, LEAST_HALVES)
    promote = promoted(problem, schedule)
    while warp_m * warp_n * (2 if promote else 1) > WARP * MOST_SUMS:
        warp_m, warp_n = (warp_m // 2, warp_n) if warp_m >= warp_n else (warp_m, warp_n // 2)
    vectors["vector_d"] = min(vectors["vector_d"], warp_n // 2 // problem.parts)
    copied = [vectors[f"vector_{operand}"] for operand in "ab" if problem.along_k(operand)]
    most_k = WARP * warps_m * warps_n * min(copied, default=schedule.block_k)
    terms = PRODUCT_BYTES // problem.dtype.bytes
    block_k = max(terms, min(schedule.block_k, most_k, promote or most_k))
    wanted = schedule.replace(
        block_m=warps_m * warp_m,
        block_n=warps_n * warp_n,
        block_k=block_k,
        warp_m=warp_m,
        warp_n=warp_n,
        double_buffer_fragments=schedule.double_buffer_fragments and block_k > terms,
        promote=promote,
        min_blocks_per_sm=1,
        **vectors,
    )
    wanted = _within_shared(problem, _within_registers(problem, wanted, spec), spec)
    footprint = wanted.footprint(problem)
    registers = min(footprint.registers + _SPARE_REGISTERS, spec.registers_per_thread)
    resident = blocks_per_sm(spec, footprint.threads, registers, footprint.shared_bytes)
    return wanted.replace(min_blocks_per_sm=max(1, min(schedule.min_blocks_per_sm, resident)))


def _within_registers(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> GemmSchedule:
    """The schedule with smaller warp tiles, or fewer warps, as long as its registers are too many."""
    wanted = schedule
    while True:
        footprint = wanted.footprint(problem)
        if footprint.registers > spec.registers_per_thread:
            if wanted.double_buffer_fragments:
                wanted = wanted.replace(double_buffer_fragments=False)
            elif wanted.block_k * problem.dtype.bytes > PRODUCT_BYTES:
                wanted = wanted.replace(block_k=wanted.block_k // 2)
            elif wanted.warp_m >= wanted.warp_n and wanted.warp_m > PRODUCT_M:
                wanted = wanted.replace(block_m=wanted.block_m // 2, warp_m=wanted.warp_m // 2)
            else:
                smaller: dict[str, Any] = {"block_n": wanted.block_n // 2, "warp_n": wanted.warp_n // 2}
                wanted = wanted.replace(**smaller, vector_d=min(wanted.vector_d, wanted.warp_n // 4 // problem.parts))
        elif footprint.threads * footprint.registers > spec.registers_per_block:
            wanted = _fewer_warps(wanted)
        else:
            return wanted


def _within_shared(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> GemmSchedule:
    """The schedule with as many stages as there is room for; smaller ones, or fewer warps, if two are too many."""
    wanted = schedule
    while True:
        counts = [count for count in field_specs(GemmSchedule)["stages"].values if count <= schedule.stages]
        room = [n for n in counts if wanted.replace(stages=n).shared_bytes(problem) <= spec.shared_per_block]
        if room:
            return wanted.replace(stages=max(room))
        if wanted.block_k * problem.dtype.bytes > PRODUCT_BYTES:
            wanted = wanted.replace(block_k=wanted.block_k // 2, double_buffer_fragments=False)
        else:
            wanted = _fewer_warps(wanted)


def _fewer_warps(schedule: GemmSchedule) -> GemmSchedule:
    if schedule.warps_m >= schedule.warps_n:
        return schedule.replace(block_m=schedule.block_m // 2)
    return schedule.replace(block_n=schedule.block_n // 2)


def _grids(problem: GemmProblem, spec: DeviceSpec) -> tuple[str, ...]:
    """A block for each tile, some for each SM, or several for each tile while tiles of 64×64 leave SMs idle."""
    tiles = ceil_div(problem.m, 64) * ceil_div(problem.n, 64) * problem.batch
    useful = min(problem.k // (64 * _LEAST_STEPS), 4 * spec.sm_count // max(1, tiles))
    splits = (split for split in (2, 3, 4, 6, 8, 12, 16) if split <= useful)
    return ("tiles", *(f"SMs·{blocks}" for blocks in (1, 2, 3, 4)), *(f"tiles·{split}" for split in splits))


def on_grid(problem: GemmProblem, spec: DeviceSpec, schedule: GemmSchedule, grid: str) -> GemmSchedule:
    """The schedule with the grid that a value of the parameter `grid` means for its tiles.

    Blocks have a step each at least. By wgmma they take whole tiles, a cluster of blocks one each, or they share those
    beyond whole waves. Clusters that share k have a tile each, or several share each of few tiles.
    """
    tiles = schedule.tiles(problem)
    unit, _, factor = grid.partition("·")
    if tiles and schedule.cluster_k > 1 and unit == SHARED:
        return schedule.replace(grid_blocks=_shared_by_clusters(problem, spec, schedule), whole_tiles=False)
    if not factor or not tiles or schedule.cluster_k > 1:
        return schedule.replace(grid_blocks=0, whole_tiles=False)
    wanted = int(factor) * (tiles if unit == "tiles" else spec.sm_count)
    sharing = schedule.replace(grid_blocks=min(wanted, tiles * schedule.steps(problem)), whole_tiles=False)
    if schedule.instruction is Instruction.MMA_SYNC:
        return sharing
    shared = (wanted >= tiles or unit == SHARED) and sharing.shares_tiles(problem)
    if not shared or takes_whole_tiles(problem, schedule):
        clusters = max(1, min(wanted // schedule.cluster, tiles))
        return schedule.replace(grid_blocks=clusters * schedule.cluster, whole_tiles=True)
    return sharing


def _shared_by_clusters(problem: GemmProblem, spec: DeviceSpec, schedule: GemmSchedule) -> int:
    """Blocks of as many clusters for each tile as the device has at once, with some steps for each block; or 0."""
    tiles, blocks = schedule.tiles(problem), schedule.cluster_k
    sharers = min(spec.sm_count // (blocks * tiles), schedule.steps(problem) // (blocks * _LEAST_STEPS))
    return sharers * blocks * tiles if sharers > 1 else 0
