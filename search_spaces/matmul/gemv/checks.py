"""gemv: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule
from autotune.codegen.model.integers import ceil_div, round_up

S = TypeVar("S", bound=GemvSchedule)

_SPLITS = 3  # splits of a check, at most


def checks(problem: GemvProblem, schedule: S) -> list[tuple[GemvProblem, S]]:
    """Whole blocks; and edges on both sides in a batch, just aligned enough, with y read."""
    like = schedule.replace(splits=min(_SPLITS, schedule.splits))
    m = max(1, problem.m)
    n, k = like.block_n(problem), like.block_k(problem) * like.partitions
    whole = _small(replace(problem, m=m), like, n, k)
    ragged = _small(replace(problem, m=m, beta_nonzero=True), like, n + n // 2 + 1, k + like.block_k(problem) // 2 + 1)
    return [(whole, like), (replace(ragged, batch=2), like)]


def _small(problem: GemvProblem, schedule: GemvSchedule, n: int, k: int) -> GemvProblem:
    """A problem in the layout of another, whose rows are just aligned enough for the schedule's vectors."""
    width, size = schedule.vector_width, problem.dtype.bytes
    columns = ceil_div(k, problem.weights.packed) if problem.order is WeightOrder.NK else n
    width_x = schedule.x_width(problem) if problem.quantised else min(width, problem.vector_width("x"))
    return GemvProblem(
        n=n,
        k=k,
        m=problem.m,
        order=problem.order,
        dtype=problem.dtype,
        bias=problem.bias,
        activation=problem.activation,
        beta_nonzero=problem.beta_nonzero,
        weights=problem.weights,
        group_size=problem.group_size,
        scale_dtype=problem.scale_dtype,
        zeros=problem.zeros,
        ldx=round_up(k, width_x),
        align_x=width_x * size,
        ldw=round_up(columns, width),
        align_w=width * problem.weight_dtype.bytes,
        align_y=size,
    )
