"""gemm: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule, Prepare
from autotune.codegen.model.integers import round_up

S = TypeVar("S", bound=GemmSchedule)


def small_problems(problem: GemmProblem, schedule: S, sharing: Callable[[int], int]) -> list[tuple[GemmProblem, S]]:
    """Whole tiles; and edges on all sides, in a batch where there are any, just aligned enough.

    Args:
        problem, schedule: what is checked.
        sharing: blocks that share so many tiles, if the schedule's do.
    """
    m, n, k = schedule.block_m * schedule.cluster_m, schedule.block_n * schedule.cluster_n, schedule.block_k
    parts = schedule.cluster_k * (2 if schedule.cluster_k > 1 and schedule.grid_blocks else 1)  # parts of k
    steps = max(parts, 2 if schedule.whole_tiles else schedule.stages)
    # Stages of 8 bits have so many terms that one matrix is enough to compute.
    batch = 1 if problem.dtype.bits == 8 or schedule.swap else 2
    odd = problem.parts == 1 and not problem.preactivation  # rows in several parts must be aligned in all of them
    ragged = n + n // 2 + odd
    long = max(m + m // 2, n) + odd
    if schedule.tensor_store:  # which rows of whole units take
        unit = problem.parts * schedule.vector(problem, "d")
        ragged, long = round_up(ragged, unit), round_up(long, unit)
    if schedule.swap:
        k_small, k_ragged = max(parts, 2) * k, steps * k + k // 2 + 1
        wanted = [(n, max(m, n), k_small, 1), (n // 2 + 1, long, k_ragged, 1)]
    else:
        wanted = [(m, n, max(parts, 2) * k, 1), (m // 2 + 1, ragged, steps * k + k // 2 + 1, batch)]
    return [_on_small_grid(_small(problem, schedule, *sizes), schedule, sharing) for sizes in wanted]


def _on_small_grid(small: GemmProblem, schedule: S, sharing: Callable[[int], int]) -> tuple[GemmProblem, S]:
    if schedule.whole_tiles:
        return small, schedule.replace(grid_blocks=schedule.cluster)
    tiles = schedule.tiles(small)
    shared = min(tiles * schedule.steps(small), sharing(tiles))
    return small, schedule.replace(grid_blocks=shared if schedule.grid_blocks else 0)


def _small(problem: GemmProblem, schedule: GemmSchedule, m: int, n: int, k: int, batch: int) -> GemmProblem:
    """A problem in the layout of another, with rows just aligned enough for the schedule's vectors, or not at all."""
    layouts: dict[str, Any] = {f"{name}{operand}": 0 for operand in "abd" for name in ("ld", "stride_")}
    small = replace(problem, m=m, n=n, k=k, batch=batch, **layouts)
    for operand in "abd":
        copied = operand in "ab" and getattr(schedule, f"prepare_{operand}") is not Prepare.NONE
        vector = 1 if copied else schedule.vector(problem, operand)
        rows, columns = small.stored[operand]
        leading = columns | 1 if copied else round_up(columns, vector)
        layouts[f"ld{operand}"] = leading
        layouts[f"stride_{operand}"] = rows * leading if batch > 1 else 0
        layouts[f"align_{operand}"] = vector * small.element_bytes_of(operand)
    return replace(small, **layouts)
