"""What a sampler of schedules by mma.sync draws from."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.mma_sync.schedule import (
    LEAST_HALVES,
    PRODUCT_BYTES,
    PRODUCT_M,
    MmaSyncSchedule,
)
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.matmul.gemm import preparation
from autotune.search_spaces.matmul.gemm.promotion import promoted
from autotune.search_spaces.matmul.gemm.tiling import block_ks, grids

from .legal import MOST_SUMS

S = TypeVar("S", bound=MmaSyncSchedule)
_WARPS = (1, 2, 4)
_SPARE_REGISTERS = 20  # beyond the footprint, with which ptxas spills nothing


def space(problem: GemmProblem, spec: DeviceSpec) -> Space[MmaSyncSchedule]:
    """Warps and their tiles are drawn, and the block follows, so that tiles nest.

    Vectors are as wide as possible. All other draws are upper bounds: the schedule gets as much as fits.
    """
    parameters = (
        Parameter("warps_m", _WARPS),
        Parameter("warps_n", _WARPS),
        Parameter("grid", grids(problem, spec)),
        Parameter("block_k", block_ks(problem)),
        *(Parameter(f"prepare_{operand}", preparation.choices(problem, operand)) for operand in "ab"),
        *(one for one in field_parameters(MmaSyncSchedule) if one.name != "block_k"),
    )

    def fits_grid(schedule: MmaSyncSchedule, grid: Value) -> bool:
        return on_grid(problem, spec, schedule, str(grid)) == schedule

    return Space(parameters, partial(_build, problem, spec), fits={"grid": fits_grid})


def _build(problem: GemmProblem, spec: DeviceSpec, draw: Draw) -> MmaSyncSchedule:
    values = {name: value for name, value in draw.items() if name in field_specs(MmaSyncSchedule)}
    warps_m, warps_n = int(draw["warps_m"]), int(draw["warps_n"])
    blocks = {f"block_{side}": int(draw[f"warp_{side}"]) * int(draw[f"warps_{side}"]) for side in "mn"}
    schedule = fitted(problem, MmaSyncSchedule.from_dict(values | blocks), spec, (warps_m, warps_n))
    return on_grid(problem, spec, schedule, str(draw["grid"]))


def fitted(
    problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec, warps: tuple[int, int] | None = None
) -> MmaSyncSchedule:
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


def _within_registers(problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> MmaSyncSchedule:
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


def _within_shared(problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> MmaSyncSchedule:
    """The schedule with as many stages as there is room for; smaller ones, or fewer warps, if two are too many."""
    wanted = schedule
    while True:
        counts = [count for count in field_specs(MmaSyncSchedule)["stages"].values if count <= schedule.stages]
        room = [n for n in counts if wanted.replace(stages=n).shared_bytes(problem) <= spec.shared_per_block]
        if room:
            return wanted.replace(stages=max(room))
        if wanted.block_k * problem.dtype.bytes > PRODUCT_BYTES:
            wanted = wanted.replace(block_k=wanted.block_k // 2, double_buffer_fragments=False)
        else:
            wanted = _fewer_warps(wanted)


def _fewer_warps(schedule: MmaSyncSchedule) -> MmaSyncSchedule:
    if schedule.warps_m >= schedule.warps_n:
        return schedule.replace(block_m=schedule.block_m // 2)
    return schedule.replace(block_n=schedule.block_n // 2)


def on_grid(problem: GemmProblem, spec: DeviceSpec, schedule: S, grid: str) -> S:
    """The schedule with the grid that a value of the parameter `grid` means for its tiles: a step or more a block."""
    tiles = schedule.tiles(problem)
    unit, _, factor = grid.partition("·")
    if not factor or not tiles:
        return schedule.replace(grid_blocks=0)
    wanted = int(factor) * (tiles if unit == "tiles" else spec.sm_count)
    return schedule.replace(grid_blocks=min(wanted, tiles * schedule.steps(problem)))
