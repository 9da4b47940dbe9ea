"""What a sampler draws of gemm schedules by wgmma."""

from __future__ import annotations

from typing import Any

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import SCALE_BLOCK
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import ROW_BYTES, WGMMA_ARCHITECTURE, WGMMA_ROWS, GemmSchedule
from autotune.codegen.matmul.gemm.schedule_fields import Instruction, Prepare
from autotune.codegen.matmul.gemm.wgmma.operands import registers_a
from autotune.codegen.matmul.gemm.wgmma.swap import tiled_problem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.tensor_map import MOST_OF_BOX
from autotune.codegen.source.wgmma import LEAST_COLUMNS, MOST_COLUMNS
from autotune.search_spaces.contract.space import Draw
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .preparation import choices
from .promotion import promoted
from .wgmma_legal import (
    b_alone_across,
    enough_registers,
    halves_unit,
    multiplied_by_wgmma,
    shared_evenly,
    stored_in_boxes,
    stored_together,
    sums_fit,
    swappable,
)

# Rows and columns of a block's tile: any that products have, since waves of whole tiles should fill the device.
TILE_ROWS = tuple(range(WGMMA_ROWS, MOST_OF_BOX + 1, WGMMA_ROWS))
TILE_COLUMNS = tuple(range(LEAST_COLUMNS, MOST_COLUMNS + 1, LEAST_COLUMNS))
_SCALED_COLUMNS = tuple(2 * SCALE_BLOCK >> shift for shift in range(6))
_INT8_COLUMNS = 16  # that products of int8 have a multiple of beyond twice as many
_LEAST_STEPS = 4  # along k of a block that shares a tile
_MOST_BLOCKS_PER_SM = 2
_MOST_SWAPPED = 128  # rows of D; with more, products of 64 rows are as good
_WAVE = 2**22  # elements of D that the largest tiles of a wave have


def has_wgmma(problem: GemmProblem, spec: DeviceSpec) -> bool:
    """Whether some schedule by wgmma is legal."""
    known = WGMMA_ARCHITECTURE.startswith(spec.arch)
    return known and multiplied_by_wgmma(product(problem, _aligned(problem, GemmSchedule())))


def _aligned(problem: GemmProblem, schedule: GemmSchedule) -> GemmSchedule:
    """The schedule with copies of operands that tensor copies, or products, cannot take as they are.

    These take A of 32 bits however it lies, and with swap B.
    """
    fields: dict[str, Any] = {}
    for operand in "ab":
        known, name = choices(problem, operand), f"prepare_{operand}"
        either = problem.dtype.bits == 16 or (problem.dtype.bits == 32 and operand == ("b" if schedule.swap else "a"))
        if not either and Prepare.TRANSPOSE in known:
            fields[name] = Prepare.TRANSPOSE
        elif Prepare.COPY in known and getattr(schedule, name) is Prepare.NONE:
            fields[name] = Prepare.COPY
    return schedule.replace(**fields)


def unready(problem: GemmProblem) -> list[str]:
    """The operands that no product of wgmma takes as they are."""
    schedule = _aligned(problem, GemmSchedule())
    return [operand for operand in "ab" if getattr(schedule, f"prepare_{operand}") is not Prepare.NONE]


def build(problem: GemmProblem, spec: DeviceSpec, draw: Draw) -> GemmSchedule:
    """The schedule of a draw but for its grid."""
    unused = GemmSchedule(instruction=Instruction.WGMMA).unused
    values = {name: draw[name] for name in field_specs(GemmSchedule) if name in draw and name not in unused}
    tile = {"block_m": int(draw["tile_m"]), "block_n": int(draw["tile_n"])}
    return wgmma_fitted(problem, GemmSchedule.from_dict(values | tile), spec)


def rows_fit(schedule: GemmSchedule, rows: int) -> bool:
    """Whether a schedule may have been built with a value of the parameter `tile_m`."""
    return schedule.instruction is not Instruction.WGMMA or schedule.block_m <= rows


def columns_fit(problem: GemmProblem, schedule: GemmSchedule, columns: int) -> bool:
    """Whether a schedule may have been built with a value of the parameter `tile_n`."""
    if schedule.instruction is not Instruction.WGMMA:
        return True
    return schedule.block_n <= _whole_columns(tiled_problem(product(problem, schedule), schedule), columns)


def wgmma_fitted(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> GemmSchedule:
    """The schedule with products that are whole, sums that fit, and as many stages as there is room for."""
    row, promote = ROW_BYTES // problem.dtype.bytes, promoted(problem, schedule)
    aligned = _aligned(problem, schedule)
    if aligned.swap and not (swappable(problem) and {aligned.prepare_a, aligned.prepare_b} == {Prepare.NONE}):
        aligned = _aligned(problem, schedule.replace(swap=False))
    schedule = aligned
    left, block_k = tiled_problem(product(problem, schedule), schedule), round_up(schedule.block_k, row)
    wanted = schedule.replace(
        block_n=_whole_columns(left, schedule.block_n),
        block_k=min(block_k, promote or block_k),
        promote=promote,
        vector_d=stored_together(left, schedule),
        min_blocks_per_sm=1,
    )
    wanted = _whole_products(_clustered(problem, wanted, spec))
    # One consumer multiplies at a time where they take turns: then a product has to be under way while it waits.
    depth = 1 if wanted.pingpong else wanted.wait_depth
    wanted = wanted.replace(wait_depth=0 if promote else 1 if registers_a(left) else depth)
    while not enough_registers(left, wanted):
        smaller: dict[str, Any] = {"block_n": _fewer_columns(left, wanted.block_n)}
        if wanted.block_m // WGMMA_ROWS > (1 if wanted.pingpong else wanted.consumers):
            smaller = {"block_m": wanted.block_m - WGMMA_ROWS}
        wanted = _whole_products(wanted.replace(**smaller))
    if not shared_evenly(left, wanted.block_n, wanted.cluster_m):
        wanted = wanted.replace(cluster_m=1)
    tensor_store = wanted.tensor_store and stored_in_boxes(left, wanted)
    wanted = _within_shared(problem, wanted.replace(tensor_store=tensor_store), spec)
    if not sums_fit(problem, wanted):
        wanted = wanted.replace(cluster_k=1)
    footprint = wanted.footprint(problem)
    room = min(spec.threads_per_sm // footprint.threads, spec.shared_per_sm // footprint.shared_bytes)
    for blocks in range(min(schedule.min_blocks_per_sm, _MOST_BLOCKS_PER_SM, room), 1, -1):
        if enough_registers(left, several := wanted.replace(min_blocks_per_sm=blocks)):
            return several
    return wanted


def _whole_columns(problem: GemmProblem, columns: int) -> int:
    """Columns of a tile that are whole products, boxes, pairs of gates and factors, and blocks of scales."""
    if problem.scales is Scales.BLOCK:
        return max(one for one in _SCALED_COLUMNS if one <= columns)
    return round_up(columns, _unit(problem, columns))


def _fewer_columns(problem: GemmProblem, columns: int) -> int:
    """The next fewer of these."""
    fewer = columns - _unit(problem, columns)
    return _whole_columns(problem, fewer) if problem.scales is Scales.BLOCK else fewer


def _unit(problem: GemmProblem, columns: int) -> int:
    """What so many columns of a tile are a multiple of."""
    if problem.gate is Gate.HALVES:
        return halves_unit(problem)
    return _INT8_COLUMNS if problem.dtype is DType.INT8 and columns > 2 * _INT8_COLUMNS else LEAST_COLUMNS


def _whole_products(schedule: GemmSchedule) -> GemmSchedule:
    """As many consumers as share the rows evenly."""
    pingpong = schedule.pingpong and schedule.consumers > 1
    if pingpong:
        return schedule
    shared = next(n for n in range(schedule.consumers, 0, -1) if schedule.block_m % (n * WGMMA_ROWS) == 0)
    return schedule.replace(consumers=shared, pingpong=False)


def _clustered(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> GemmSchedule:
    """The schedule with clusters of one kind: of as many blocks as may share k, or else side by side."""
    if schedule.cluster_k > 1:
        most = min(schedule.cluster_k, schedule.steps(problem))
        blocks = max(blocks for blocks in cluster_ks(problem, spec) if blocks <= most)
        return schedule.replace(cluster_k=blocks, cluster_m=1, cluster_n=1, pingpong=False)
    cluster_m = 1 if problem.gate is Gate.HALVES else schedule.cluster_m
    return schedule.replace(cluster_m=cluster_m, cluster_n=schedule.cluster_n if cluster_m == 1 else 1)


def swaps(problem: GemmProblem) -> tuple[bool, ...]:
    """Whether rows of D may become columns of tiles: few rows, or those of a product whose B alone lies across k."""
    wanted = few_rows(problem) or b_alone_across(problem) or any_columns_swapped(problem)
    return (False, True) if swappable(problem) and wanted else (False,)


def few_rows(problem: GemmProblem) -> bool:
    """Whether D has so few rows that these become columns of tiles in place of 64 rows."""
    return problem.m <= min(problem.n, _MOST_SWAPPED)


def any_columns_swapped(problem: GemmProblem) -> bool:
    """Whether narrow tiles matter, which swap makes of any columns: copies of B across k bring whole boxes of 64."""
    across = problem.layout == "nn" and problem.dtype.bits == problem.result.bits == 16
    return across and swappable(problem) and problem.m * problem.n <= _WAVE


def cluster_ks(problem: GemmProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Blocks that may share k: several where the largest tiles leave SMs idle, with some steps for each."""
    tiles = ceil_div(problem.m, 128) * ceil_div(problem.n, 256) * problem.batch
    most = min(2 * spec.sm_count // max(1, tiles), problem.k // (64 * _LEAST_STEPS))
    return tuple(blocks for blocks in field_specs(GemmSchedule)["cluster_k"].values if blocks <= max(1, most))


def _within_shared(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> GemmSchedule:
    """The most stages that fit, of half as many columns along k if that is too few."""
    none, one = (schedule.replace(stages=count).shared_bytes(problem) for count in (0, 1))
    room = min(schedule.stages, (spec.shared_per_block - none) // (one - none))
    counts = [count for count in field_specs(GemmSchedule)["stages"].values if count <= room]
    if counts:
        return schedule.replace(stages=max(counts))
    return _within_shared(problem, schedule.replace(block_k=schedule.block_k // 2), spec)
