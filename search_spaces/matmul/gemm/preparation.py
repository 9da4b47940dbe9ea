"""gemm: which operands are worth a copy ahead of the product, which can have one, and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from autotune.codegen.matmul.gemm.prepare import footprint, prepared
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule, Prepare
from autotune.codegen.matmul.workspace_copy import workspace_bytes
from autotune.codegen.model.hardware import WARP, WIDEST_ACCESS
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.workspace import ALIGNMENT
from autotune.search_spaces.machine.workload import Workload

_WORKSPACE_BYTES = 2**30
# Of a store, with the loads that it takes, as counted in machine code (NVRTC 13.0, sm_90).
_INSTRUCTIONS, _LOAD_INSTRUCTIONS = 55, 25
_WAITS = 2  # 326 products of an H200 with copies took 1.2 µs longer than without these
_LINES = 10  # lines of the accesses of a warp to load what it stores: each line twice, but for a part of the first


def violations(problem: GemmProblem, schedule: GemmSchedule) -> Iterator[str]:
    """Operands that cannot be copied first."""
    before = prepared(problem, schedule)
    for one in before:
        operand = one.copy.operand
        if one.transpose and problem.along_k(operand):
            yield f"{operand.upper()} lies along k, so prepare_{operand} cannot transpose it"
    if before and _empty(problem):
        yield f"there is no product to prepare {' and '.join(one.copy.operand.upper() for one in before)} for"
    needed = workspace_bytes(problem, [one.copy for one in before], 0)
    if needed > _WORKSPACE_BYTES:
        yield f"prepared operands need a workspace of {needed} bytes over {_WORKSPACE_BYTES}"


def choices(problem: GemmProblem, operand: str) -> tuple[Prepare, ...]:
    """What may help: rows that are aligned to 16 bytes, or that run along k."""
    if _empty(problem) or sum(_most_bytes(problem, x) for x in "ab") > _WORKSPACE_BYTES:
        return (Prepare.NONE,)
    copy = () if _aligned(problem, operand) else (Prepare.COPY,)
    transpose = () if problem.along_k(operand) else (Prepare.TRANSPOSE,)
    return (Prepare.NONE, *copy, *transpose)


def copies(problem: GemmProblem) -> Iterator[Mapping[str, Any]]:
    """The fields of schedules to try first: each unaligned operand as it is, or as an aligned copy."""
    known = ([one for one in choices(problem, operand) if one is not Prepare.TRANSPOSE] for operand in "ab")
    for prepare_a, prepare_b in product(*known):
        yield {"prepare_a": prepare_a, "prepare_b": prepare_b}


def workloads(problem: GemmProblem, schedule: GemmSchedule) -> tuple[Workload, ...]:
    """That of the launch, if there is one."""
    before = prepared(problem, schedule)
    if not before:
        return ()
    blocks = sum(one.blocks for one in before)
    stores = sum(one.blocks * one.stores for one in before) / blocks
    copied = sum(problem.bytes_of(one.copy.operand) for one in before)
    return (
        Workload(
            blocks=blocks,
            footprint=footprint(before),
            memory_bytes=2 * copied,
            instructions=_INSTRUCTIONS * stores / WARP,
            load_instructions=_LOAD_INSTRUCTIONS * stores / WARP,
            lines=_LINES * stores / WARP,
            bytes_loaded=WIDEST_ACCESS * stores,
            bytes_stored=WIDEST_ACCESS * stores,
            waits=_WAITS,
        ),
    )


def _aligned(problem: GemmProblem, operand: str) -> bool:
    return problem.vector_width(operand) * problem.element_bytes_of(operand) == WIDEST_ACCESS


def _most_bytes(problem: GemmProblem, operand: str) -> int:
    """Of a copy, whichever way its rows run."""
    vector = WIDEST_ACCESS // problem.dtype.bytes
    rows, columns = (round_up(size, vector) for size in problem.stored[operand])
    return round_up(problem.dtype.bytes * rows * columns * problem.batch, ALIGNMENT)


def _empty(problem: GemmProblem) -> bool:
    return 0 in (problem.m, problem.n, problem.k, problem.batch)
