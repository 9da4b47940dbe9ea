"""What a sampler of schedules by wgmma draws from."""

from __future__ import annotations

from functools import partial
from typing import Any

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import SCALE_BLOCK
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.matmul.gemm.wgmma.operands import registers_a
from autotune.codegen.matmul.gemm.wgmma.schedule import ARCHITECTURE, PRODUCT_ROWS, ROW_BYTES, WgmmaSchedule
from autotune.codegen.matmul.gemm.wgmma.swap import tiled_problem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.tensor_map import MOST_OF_BOX
from autotune.codegen.source.wgmma import LEAST_COLUMNS, MOST_COLUMNS
from autotune.search_spaces.contract.space import Draw, Parameter, Space, Value, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemm.preparation import choices
from autotune.search_spaces.matmul.gemm.promotion import promoted
from autotune.search_spaces.matmul.gemm.tiling import block_ks, grids

from .legal import (
    b_alone_across,
    enough_registers,
    halves_unit,
    multiplied_by_wgmma,
    shared_evenly,
    stored_in_boxes,
    stored_together,
    sums_fit,
    swappable,
    takes_whole_tiles,
)

# Rows and columns of a block's tile: any that products have, since waves of whole tiles should fill the device.
_TILE_ROWS = tuple(range(PRODUCT_ROWS, MOST_OF_BOX + 1, PRODUCT_ROWS))
_TILE_COLUMNS = tuple(range(LEAST_COLUMNS, MOST_COLUMNS + 1, LEAST_COLUMNS))
_SCALED_COLUMNS = tuple(2 * SCALE_BLOCK >> shift for shift in range(6))
_INT8_COLUMNS = 16  # that products of int8 have a multiple of beyond twice as many
_LEAST_STEPS = 4  # along k of a block that shares a tile
_MOST_BLOCKS_PER_SM = 2
SHARED = "shared"  # a grid whose blocks share tiles beyond whole waves
_MOST_SWAPPED = 128  # rows of D; with more, products of 64 rows are as good
_WAVE = 2**22  # elements of D that the largest tiles of a wave have


def has_wgmma(problem: GemmProblem, spec: DeviceSpec) -> bool:
    """Whether some schedule by wgmma is legal."""
    known = ARCHITECTURE.startswith(spec.arch)
    return known and multiplied_by_wgmma(product(problem, _aligned(problem, WgmmaSchedule())))


def _aligned(problem: GemmProblem, schedule: WgmmaSchedule) -> WgmmaSchedule:
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
    schedule = _aligned(problem, WgmmaSchedule(swap=b_alone_across(problem) and swappable(problem)))
    return [operand for operand in "ab" if getattr(schedule, f"prepare_{operand}") is not Prepare.NONE]


def space(problem: GemmProblem, spec: DeviceSpec) -> Space[WgmmaSchedule]:
    """Tiles are drawn, as upper bounds as all else: the schedule gets as much as fits."""
    fields = field_parameters(WgmmaSchedule, cluster_k=cluster_ks(problem, spec), swap=swaps(problem))
    parameters = (
        Parameter("tile_m", _TILE_ROWS),
        Parameter("tile_n", _TILE_COLUMNS),
        Parameter("grid", (*grids(problem, spec), f"{SHARED}·1")),
        Parameter("block_k", block_ks(problem)),
        *(Parameter(f"prepare_{operand}", choices(problem, operand)) for operand in "ab"),
        *(one for one in fields if one.name != "block_k"),
    )

    def fits_grid(schedule: WgmmaSchedule, grid: Value) -> bool:
        return on_grid(problem, spec, schedule, str(grid)) == schedule

    def fits_rows(schedule: WgmmaSchedule, rows: Value) -> bool:
        return schedule.block_m <= int(rows)

    def fits_columns(schedule: WgmmaSchedule, columns: Value) -> bool:
        return schedule.block_n <= _whole_columns(tiled_problem(product(problem, schedule), schedule), int(columns))

    fits = {"grid": fits_grid, "tile_m": fits_rows, "tile_n": fits_columns}
    return Space(parameters, partial(_build, problem, spec), fits=fits)


def _build(problem: GemmProblem, spec: DeviceSpec, draw: Draw) -> WgmmaSchedule:
    values = {name: value for name, value in draw.items() if name in field_specs(WgmmaSchedule)}
    tile = {"block_m": int(draw["tile_m"]), "block_n": int(draw["tile_n"])}
    return on_grid(problem, spec, fitted(problem, WgmmaSchedule.from_dict(values | tile), spec), str(draw["grid"]))


def fitted(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> WgmmaSchedule:
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
        if wanted.block_m // PRODUCT_ROWS > (1 if wanted.pingpong else wanted.consumers):
            smaller = {"block_m": wanted.block_m - PRODUCT_ROWS}
        elif registers_a(left) and wanted.block_k > row:
            smaller = {"block_k": wanted.block_k // 2}
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


def _whole_products(schedule: WgmmaSchedule) -> WgmmaSchedule:
    """As many consumers as share the rows evenly."""
    pingpong = schedule.pingpong and schedule.consumers > 1
    if pingpong:
        return schedule
    shared = next(n for n in range(schedule.consumers, 0, -1) if schedule.block_m % (n * PRODUCT_ROWS) == 0)
    return schedule.replace(consumers=shared, pingpong=False)


def _clustered(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> WgmmaSchedule:
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
    return tuple(blocks for blocks in field_specs(WgmmaSchedule)["cluster_k"].values if blocks <= max(1, most))


def _within_shared(problem: GemmProblem, schedule: WgmmaSchedule, spec: DeviceSpec) -> WgmmaSchedule:
    """The most stages that fit, of half as many columns along k if that is too few."""
    none, one = (schedule.replace(stages=count).shared_bytes(problem) for count in (0, 1))
    room = min(schedule.stages, (spec.shared_per_block - none) // (one - none))
    counts = [count for count in field_specs(WgmmaSchedule)["stages"].values if count <= room]
    if counts:
        return schedule.replace(stages=max(counts))
    return _within_shared(problem, schedule.replace(block_k=schedule.block_k // 2), spec)


def on_grid(problem: GemmProblem, spec: DeviceSpec, schedule: WgmmaSchedule, grid: str) -> WgmmaSchedule:
    """The schedule with the grid that a value of the parameter `grid` means for its tiles.

    Blocks have a step each at least. They take whole tiles, a cluster of blocks one each, or they share those
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
    shared = (wanted >= tiles or unit == SHARED) and sharing.shares_tiles(problem)
    if not shared or takes_whole_tiles(problem, schedule):
        clusters = max(1, min(wanted // schedule.cluster, tiles))
        return schedule.replace(grid_blocks=clusters * schedule.cluster, whole_tiles=True)
    return sharing


def _shared_by_clusters(problem: GemmProblem, spec: DeviceSpec, schedule: WgmmaSchedule) -> int:
    """Blocks of as many clusters for each tile as the device has at once, with some steps for each block; or 0."""
    tiles, blocks = schedule.tiles(problem), schedule.cluster_k
    sharers = min(spec.sm_count // (blocks * tiles), schedule.steps(problem) // (blocks * _LEAST_STEPS))
    return sharers * blocks * tiles if sharers > 1 else 0
