"""Small problems that prove an sgemm schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.codegen.model.integers import round_up


def checks(problem: SgemmProblem, schedule: SgemmSchedule) -> list[tuple[SgemmProblem, SgemmSchedule]]:
    """Whole tiles; and edges with tails on all sides, in four batches, with C read.

    A grid of its own size is one of 3 clusters: on the first, all share a tile; on the other, tiles are whole, too.
    """
    schedule = replace(schedule, grid_blocks=min(schedule.grid_blocks, 3 * schedule.cluster_k))
    depth = schedule.block_k * (3 + schedule.stages)
    whole = _small(problem, schedule, schedule.block_m, schedule.block_n, depth)
    ragged = _small(problem, schedule, schedule.block_m + 3, schedule.block_n // 2 + 1, depth - schedule.block_k + 3)
    batched = replace(ragged, batch=4, stride_c=ragged.m * ragged.ldc, beta_nonzero=True)
    return [(whole, schedule), (batched, schedule)]


def _small(problem: SgemmProblem, schedule: SgemmSchedule, m: int, n: int, k: int) -> SgemmProblem:
    """A problem in the layout of another, with rows that are just aligned enough for the schedule's vectors."""
    columns = {"a": m if problem.transpose_a else k, "b": k if problem.transpose_b else n, "c": n}
    shape: dict[str, Any] = {}
    for operand, length in columns.items():
        vector = getattr(schedule, f"vector_{operand}")
        shape[f"ld{operand}"] = round_up(length, vector)
        shape[f"align_{operand}"] = 4 * vector
    return replace(SgemmProblem(m, n, k, problem.transpose_a, problem.transpose_b), **shape)
