"""Which sgemm schedules to try first, as measured on an H200, and which to take where nothing was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.codegen.matmul.sgemm.transpose_first import product
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .catalogue import FEW_COLUMNS, FEW_ROWS, FORTY_ROWS, LARGE, MEDIUM, SCATTERED, SMALL, TINY, Seed
from .space import clusters, grid_blocks
from .waves import filling

_FEW = 64  # rows or columns
_MANY = 2048  # rows or columns that make up for a transposition of what they face
_BASE = SgemmSchedule(block_k=16, pad_a=8, copy_b=CopyMode.ASYNC_COPY)
# From large to small, for problems that a larger one would not fill the device with.
_CUSTOMARY = (
    _BASE,
    replace(_BASE, block_n=64),
    replace(_BASE, block_m=64, block_n=64, min_blocks_per_sm=2),
    replace(_BASE, block_m=32, block_n=64, thread_m=4, warp_m=16),
    replace(_BASE, block_m=16, block_n=64, block_k=32, thread_m=4, thread_n=4, warp_m=16, warp_n=32, pad_a=4),
)


def _winners(problem: SgemmProblem, spec: DeviceSpec) -> tuple[Seed, ...]:
    customary = tuple(Seed(schedule, (0, 1)) for schedule in _CUSTOMARY)
    if problem.m <= 16:
        whole = (seed for seed in FEW_ROWS if seed.schedule.block_m >= problem.m)
        return (*whole, *TINY, *SMALL, *customary)
    if problem.n <= 16:
        whole = (seed for seed in FEW_COLUMNS if seed.schedule.block_n >= problem.n)
        return (*whole, *TINY, *SMALL, *customary)
    if 32 < problem.m <= 40:
        return (*FORTY_ROWS, *SMALL, *MEDIUM, *customary)
    whole_waves = tuple(Seed(schedule, (0,)) for schedule in filling(problem, spec))
    if problem.m * problem.n <= 512 * 512:
        return (*SMALL, *TINY, *whole_waves, *MEDIUM, *customary)
    if problem.m * problem.n <= 1536 * 1536:
        return (*whole_waves, *MEDIUM, *LARGE, *SMALL, *customary)
    return (*LARGE, *whole_waves, *MEDIUM, *customary)


def _adapted(problem: SgemmProblem, schedule: SgemmSchedule, spec: DeviceSpec) -> SgemmSchedule:
    """The schedule with accesses and copies that this problem and this device have."""
    changes: dict[str, Any] = {
        f"vector_{operand}": min(getattr(schedule, f"vector_{operand}"), problem.vector_width(operand))
        for operand in "abc"
    }
    if schedule.cluster_k not in clusters(problem, spec):
        changes["cluster_k"] = 1
    for operand in "ab":
        if spec.compute_capability < (8, 0):
            changes[f"copy_{operand}"] = CopyMode.REGISTERS
            changes["copy_steps"] = 1
        elif getattr(schedule, f"copy_{operand}") is CopyMode.ASYNC_COPY:
            changes[f"vector_{operand}"] = 1 if problem.along_k(operand) else problem.vector_width(operand)
            across = 4 if schedule.lanes_k > 1 else 0
            changes[f"pad_{operand}"] = schedule.pad_a if problem.along_k(operand) else across
    return replace(schedule, **changes)


def candidates(problem: SgemmProblem, spec: DeviceSpec) -> Iterator[SgemmSchedule]:
    """The known winners, but those whose tiles are mostly outside of the matrix."""
    scattered = SCATTERED if problem.vector_width("c") == 1 else ()
    for seed in (*_winners(problem, spec), *scattered):
        adapted = _adapted(problem, seed.schedule, spec)
        if _mostly_inside(problem, adapted):
            others = (*_k_major(problem, adapted), *_transposed_first(problem, seed.schedule, spec))
            for schedule in (adapted, *others):
                for grid in _grids(problem, spec, schedule, seed.blocks):
                    yield replace(schedule, grid_blocks=grid_blocks(problem, spec, schedule, grid))


def _k_major(problem: SgemmProblem, schedule: SgemmSchedule) -> Iterator[SgemmSchedule]:
    """The schedule with K-major tiles of the large operand, if few rows or columns face it.

    Copying tiles of it one element at a time takes longer there than what FFMAs lose, by the count of instructions.
    Where B is not transposed, the known winners were measured, and these were not.
    """
    operand = "b" if problem.m <= problem.n else "a"
    vector = problem.vector_width(operand)
    few = problem.transpose_b and min(problem.m, problem.n) <= _FEW
    if few and schedule.asynchronous and problem.along_k(operand) and vector > 1:
        pad = 4 * schedule.lanes_k % 32  # words between rows, so that eight lanes read from all banks
        changes: dict[str, Any] = {f"vector_{operand}": vector, f"pad_{operand}": pad}
        yield replace(schedule, **changes, double_buffer_fragments=False)


def _transposed_first(problem: SgemmProblem, schedule: SgemmSchedule, spec: DeviceSpec) -> Iterator[SgemmSchedule]:
    """The schedule with the smaller operand transposed in the workspace, if both lie along k and much faces it.

    On an H200 at 4096³ a product takes 5 % longer if both lie along k than if one does, and the transposition takes
    1.3 % of that time. Only for schedules specialised for a shape, which are never taken unmeasured: the workspace has
    room for another copy of the operand.
    """
    few, many = sorted((problem.m, problem.n))
    both = problem.along_k("a") and problem.along_k("b")
    if both and few > _FEW and many >= _MANY and schedule.specialize is Specialize.SHAPE:
        operand = "a" if problem.m <= problem.n else "b"
        first: dict[str, Any] = {f"copy_{operand}": CopyMode.TRANSPOSE_FIRST}
        transposed, _ = product(problem, replace(schedule, **first))
        loads: dict[str, Any] = {f"vector_{operand}": problem.vector_width(operand)}
        yield replace(_adapted(transposed, schedule, spec), **first, **loads)


def _grids(problem: SgemmProblem, spec: DeviceSpec, schedule: SgemmSchedule, blocks: tuple[int, ...]) -> Iterator[str]:
    """Values of the parameter `grid` for blocks on each SM; for few rows or columns, also for as many for each tile."""
    for number in blocks:
        yield f"SMs·{number}" if number else "tiles"
        for_each_tile = number * spec.sm_count // max(1, schedule.tiles(problem))
        if min(problem.m, problem.n) <= 16 and for_each_tile > 1:
            yield f"tiles·{for_each_tile}"


def default(problem: SgemmProblem, spec: DeviceSpec) -> SgemmSchedule:
    """The largest customary tile that fills the device; a small one, split along k, if none does."""
    candidates = [_adapted(problem, schedule, spec) for schedule in _CUSTOMARY]
    for schedule in candidates:
        if schedule.tiles(problem) >= spec.sm_count:
            return schedule
    small = candidates[-2]
    return replace(small, grid_blocks=grid_blocks(problem, spec, small, "SMs·1"))


def _mostly_inside(problem: SgemmProblem, schedule: SgemmSchedule) -> bool:
    return schedule.block_m < max(16, 2 * problem.m) and schedule.block_n < max(16, 2 * problem.n)
