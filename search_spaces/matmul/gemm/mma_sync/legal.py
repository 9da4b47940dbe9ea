"""Which schedules by mma.sync are legal."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.mma_sync.schedule import (
    LEAST_HALVES,
    PRODUCT_BYTES,
    MmaSyncSchedule,
)
from autotune.codegen.matmul.gemm.prepare import product
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.model.hardware import LEAST_COPY, WARP
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemm import preparation
from autotune.search_spaces.matmul.gemm.promotion import sum_violations
from autotune.search_spaces.matmul.gemm.tiling import grid_violations

MOST_SUMS = 128  # sums of a thread


def constraints(problem: GemmProblem, schedule: MmaSyncSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    problem = problem.least_of_bucket  # so that a schedule serves all rows of a bucket, or none
    if found := [*preparation.violations(problem, schedule)] or [*_tile_violations(problem, schedule)]:
        return found
    left = product(problem, schedule)
    return [
        *(line for operand in "ab" for line in _copy_violations(left, schedule, operand)),
        *_store_violations(problem, schedule),
        *sum_violations(problem, schedule),
        *grid_violations(problem, schedule),
    ]


def _tile_violations(problem: GemmProblem, schedule: MmaSyncSchedule) -> Iterator[str]:
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


def _copy_violations(problem: GemmProblem, schedule: MmaSyncSchedule, operand: str) -> Iterator[str]:
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


def _store_violations(problem: GemmProblem, schedule: MmaSyncSchedule) -> Iterator[str]:
    vector, widest = schedule.vector_d, problem.vector_width("d")
    if vector > widest:
        yield f"vector_d {vector} over the {widest} elements that D is aligned for"
    columns = schedule.warp_n // problem.parts
    if 2 * vector > columns:
        yield f"vector_d {vector} over half of the {columns} columns of a warp"
