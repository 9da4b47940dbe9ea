"""What a sampler draws of gemm schedules by wgmma."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....codegen.fields import field_specs
from ....codegen.integers import round_up
from ....codegen.matmul.gemm.fields import Gate, Scales
from ....codegen.matmul.gemm.numbers import SCALE_BLOCK
from ....codegen.matmul.gemm.prepare import product
from ....codegen.matmul.gemm.problem import GemmProblem
from ....codegen.matmul.gemm.schedule import (
    ROW_BYTES,
    WGMMA_ARCHITECTURE,
    WGMMA_ROWS,
    GemmSchedule,
    Instruction,
    Prepare,
)
from ...device_spec import DeviceSpec
from ...space import Draw
from .preparation import choices
from .promotion import promoted
from .wgmma_legal import enough_registers, halves_unit, multiplied_by_wgmma, stored_in_boxes

# Rows and columns of a block's tile.
TILES = (
    "128x256", "256x128", "128x128", "128x192", "192x128", "256x192", "192x192", "64x256", "256x64", "64x128", "128x64",
    "64x64", "64x32", "64x16",
)  # fmt: skip
_LEAST_STAGES = 2
_MOST_BLOCKS_PER_SM = 2


def has_wgmma(problem: GemmProblem, spec: DeviceSpec) -> bool:
    """Whether some schedule by wgmma is legal."""
    known = WGMMA_ARCHITECTURE.startswith(spec.arch)
    return known and multiplied_by_wgmma(product(problem, _aligned(problem, GemmSchedule())))


def _aligned(problem: GemmProblem, schedule: GemmSchedule) -> GemmSchedule:
    """The schedule with copies of operands that tensor copies, or products of 8 bits, cannot take as they are."""
    fields: dict[str, Any] = {}
    for operand in "ab":
        known, name = choices(problem, operand), f"prepare_{operand}"
        if problem.dtype.bits == 8 and Prepare.TRANSPOSE in known:
            fields[name] = Prepare.TRANSPOSE
        elif Prepare.COPY in known and getattr(schedule, name) is Prepare.NONE:
            fields[name] = Prepare.COPY
    return replace(schedule, **fields)


def build(problem: GemmProblem, spec: DeviceSpec, draw: Draw) -> GemmSchedule:
    """The schedule of a draw but for its grid."""
    unused = GemmSchedule(instruction=Instruction.WGMMA).unused
    values = {name: draw[name] for name in field_specs(GemmSchedule) if name in draw and name not in unused}
    block_m, block_n = map(int, str(draw["tile"]).split("x"))
    return wgmma_fitted(problem, GemmSchedule.from_dict(values | {"block_m": block_m, "block_n": block_n}), spec)


def tile_fits(problem: GemmProblem, schedule: GemmSchedule, tile: str) -> bool:
    """Whether a schedule may have been built with a value of the parameter `tile`."""
    if schedule.instruction is not Instruction.WGMMA:
        return True
    block_m, block_n = map(int, tile.split("x"))
    return schedule.block_m <= block_m and schedule.block_n <= _whole_rows(product(problem, schedule), block_n)


def wgmma_fitted(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> GemmSchedule:
    """The schedule with products that are whole, sums that fit, and as many stages as there is room for."""
    row, promote = ROW_BYTES // problem.dtype.bytes, promoted(problem, schedule)
    schedule = _aligned(problem, schedule)
    block_k = round_up(schedule.block_k, row)
    wanted = replace(
        schedule,
        block_n=_whole_rows(product(problem, schedule), schedule.block_n),
        block_k=min(block_k, promote or block_k),
        promote=promote,
        wait_depth=0 if promote else schedule.wait_depth,
        vector_d=min(2, problem.vector_width("d")),
        cluster_m=1 if problem.gate is Gate.HALVES else schedule.cluster_m,
        min_blocks_per_sm=1,
    )
    wanted = _whole_products(wanted)
    while not enough_registers(wanted):
        smaller: dict[str, Any] = {"block_n": wanted.block_n // 2}
        if wanted.block_m // WGMMA_ROWS > (1 if wanted.pingpong else wanted.consumers):
            smaller = {"block_m": wanted.block_m - WGMMA_ROWS}
        wanted = _whole_products(replace(wanted, **smaller))
    tensor_store = wanted.tensor_store and stored_in_boxes(problem, wanted)
    wanted = _within_shared(problem, replace(wanted, tensor_store=tensor_store), spec)
    footprint = wanted.footprint(problem)
    room = min(spec.threads_per_sm // footprint.threads, spec.shared_per_sm // footprint.shared_bytes)
    for blocks in range(min(schedule.min_blocks_per_sm, _MOST_BLOCKS_PER_SM, room), 1, -1):
        if enough_registers(several := replace(wanted, min_blocks_per_sm=blocks)):
            return several
    return wanted


def _whole_rows(problem: GemmProblem, block_n: int) -> int:
    """Columns of a tile that are whole rows of its boxes, where rows of B run along n, and whole blocks of scales."""
    if problem.gate is Gate.HALVES:
        return round_up(block_n, halves_unit(problem))
    if problem.scales is Scales.BLOCK:
        return block_n // SCALE_BLOCK * SCALE_BLOCK or block_n
    return block_n if problem.along_k("b") else round_up(block_n, ROW_BYTES // problem.dtype.bytes)


def _whole_products(schedule: GemmSchedule) -> GemmSchedule:
    """As many consumers as share the rows evenly."""
    pingpong = schedule.pingpong and schedule.consumers > 1
    if pingpong:
        return schedule
    shared = next(n for n in range(schedule.consumers, 0, -1) if schedule.block_m % (n * WGMMA_ROWS) == 0)
    return replace(schedule, consumers=shared, pingpong=False)


def _within_shared(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> GemmSchedule:
    """The most stages that fit, of half as many columns along k if that is too few."""
    counts = [count for count in field_specs(GemmSchedule)["stages"].values if count <= schedule.stages]
    room = [n for n in counts if replace(schedule, stages=n).shared_bytes(problem) <= spec.shared_per_block]
    if room:
        return replace(schedule, stages=max(room))
    return _within_shared(problem, replace(schedule, block_k=schedule.block_k // 2), spec)
