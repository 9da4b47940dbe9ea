"""Which gemm schedules are legal."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import LEAST_HALVES, PRODUCT_BYTES, GemmSchedule
from autotune.codegen.matmul.gemm.schedule_fields import Instruction
from autotune.codegen.model.hardware import LEAST_COPY, WARP
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import group_violations

from . import preparation
from .promotion import sum_violations
from .wgmma_legal import wgmma_violations

_WORKSPACE_BYTES = 2**30
MOST_SUMS = 128  # sums of a thread


def constraints(problem: GemmProblem, schedule: GemmSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    problem = problem.least_of_bucket  # so that a schedule serves all rows of a bucket, or none
    if found := list(_unused_violations(schedule)):
        return found
    if found := list(preparation.violations(problem, schedule)):
        return found
    left = product(problem, schedule)
    if schedule.instruction is Instruction.WGMMA:
        return wgmma_violations(left, schedule) or list(_grid_violations(problem, schedule))
    if found := list(_tile_violations(problem, schedule)):
        return found
    return [
        *(line for operand in "ab" for line in _copy_violations(left, schedule, operand)),
        *_store_violations(problem, schedule),
        *sum_violations(problem, schedule),
        *_grid_violations(problem, schedule),
    ]


def _unused_violations(schedule: GemmSchedule) -> Iterator[str]:
    """Fields that would make several schedules of one kernel."""
    for name in schedule.unused:
        value, default = getattr(schedule, name), getattr(GemmSchedule, name)
        if value != default:
            yield f"{name} {value} where {schedule.instruction} does not use it: expected {default}"


def _tile_violations(problem: GemmProblem, schedule: GemmSchedule) -> Iterator[str]:
    """Tiles that do not nest. Other constraints assume that they do."""
    for side in "mn":
        block, warp = (getattr(schedule, f"{level}_{side}") for level in ("block", "warp"))
        if block % warp:
            yield f"block_{side} {block} is not a multiple of warp_{side} {warp}"
    sums = schedule.warp_m * schedule.warp_n // WARP
    if problem.gate is Gate.HALVES and schedule.warp_n < LEAST_HALVES:
        yield f"warp_n {schedule.warp_n} under the {LEAST_HALVES} columns of gates and factors in halves"
    if sums > MOST_SUMS:
        yield f"{sums} sums of a thread over {MOST_SUMS}"
    terms = PRODUCT_BYTES // problem.dtype.bytes
    if schedule.block_k % terms:
        yield f"block_k {schedule.block_k} is not a multiple of the {terms} terms of a product of {problem.dtype}"
    elif schedule.double_buffer_fragments and schedule.block_k // terms % 2:
        yield f"double_buffer_fragments needs a block_k that is a multiple of {2 * terms}, not {schedule.block_k}"


def _copy_violations(problem: GemmProblem, schedule: GemmSchedule, operand: str) -> Iterator[str]:
    """Copies that rows are not aligned for, or that the threads of a block do not share evenly."""
    vector, widest = getattr(schedule, f"vector_{operand}"), problem.vector_width(operand)
    _, row_bytes = schedule.rows(problem, operand)
    row_vectors = row_bytes // (vector * problem.dtype.bytes)
    if vector > widest:
        yield f"vector_{operand} {vector} over the {widest} elements that {operand.upper()} is aligned for"
    elif vector > 1 and vector * problem.dtype.bytes < LEAST_COPY:
        yield f"vector_{operand} {vector} of {problem.dtype}: expected 1 element, or the {LEAST_COPY} bytes of a copy"
    elif row_vectors == 0 or schedule.threads % row_vectors:
        yield f"{schedule.threads} threads do not divide into rows of {row_vectors} vectors of {operand.upper()}"


def _store_violations(problem: GemmProblem, schedule: GemmSchedule) -> Iterator[str]:
    vector, widest = schedule.vector_d, problem.vector_width("d")
    if vector > widest:
        yield f"vector_d {vector} over the {widest} elements that D is aligned for"
    columns = schedule.warp_n // problem.parts
    if 2 * vector > columns:
        yield f"vector_d {vector} over half of the {columns} columns of a warp"


def _grid_violations(problem: GemmProblem, schedule: GemmSchedule) -> Iterator[str]:
    tiles, steps, blocks = schedule.tiles(problem), schedule.steps(problem), schedule.grid_blocks
    if tiles * schedule.cluster + blocks > INT_MAX:  # a block counts on to a tile behind the last one
        yield f"{tiles * schedule.cluster} tiles and grid_blocks {blocks} over the {INT_MAX} blocks of a grid"
    yield from group_violations(schedule.raster_group, ceil_div(problem.n, schedule.block_n))
    if schedule.whole_tiles and not 0 < blocks <= tiles * schedule.cluster:
        yield f"{blocks} blocks for {tiles * schedule.cluster} whole tiles: expected 1 to as many"
    elif blocks > tiles * steps > 0:
        yield f"{blocks} blocks over the {tiles * steps} steps along k of all tiles"
    # The kernel counts the steps of shared tiles, fewer than two waves of them, in 31 bits.
    if min(tiles, 2 * blocks) * steps > INT_MAX:
        yield f"grid_blocks {blocks} with {steps} steps along k a tile is over {INT_MAX} steps"
    workspace = schedule.workspace_bytes(problem)
    if workspace > _WORKSPACE_BYTES:
        yield f"a workspace of {workspace} bytes over {_WORKSPACE_BYTES}"
