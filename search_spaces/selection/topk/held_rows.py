"""Schedules whose threads hold whole rows, a warp's or those of a cluster, in vectors in their registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.selection.topk.cluster.schedule import ClusterSchedule
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule
from autotune.codegen.selection.vectors import vectors_of_row

S = TypeVar("S", WarpsSchedule, ClusterSchedule)


def unheld(problem: TopkProblem, schedule: S, threads: int, most_items: int) -> Iterator[str]:
    """Why so many threads cannot hold a row, with so many keys of a thread at most."""
    width = schedule.vector_width
    if width > problem.widest:
        yield f"vector_width {width} over the {problem.widest} elements that X is aligned for"
    if schedule.items > most_items:
        yield f"vectors {schedule.vectors} of {width} elements over the {most_items} keys of a thread"
    if schedule.vectors * threads < (needed := vectors_of_row(problem, width)):
        yield f"vectors {schedule.vectors} of {threads} threads below the {needed} of a row"


def widths(problem: TopkProblem) -> tuple[int, ...]:
    """Elements of loads that are aligned."""
    return tuple(width for width in (1, 2, 4, 8) if width <= problem.widest)


def holding(problem: TopkProblem, schedule: S, threads: int, vectors: Sequence[int]) -> S:
    """The schedule with the fewest vectors with which so many threads hold a row."""
    needed = ceil_div(vectors_of_row(problem, schedule.vector_width), threads)
    return schedule.replace(vectors=next((few for few in vectors if few >= needed), vectors[-1]))


def checks_of_rows(problem: TopkProblem, schedule: S, rows: int, threads: int) -> list[tuple[TopkProblem, S]]:
    """The rows of a block that fill its threads; and more rows, of fewer elements, that begin as the problem's do."""
    columns = threads * schedule.items
    whole = replace(problem, rows=rows, columns=columns, k=min(problem.k, columns), ldx=0)
    fewer = max(1, columns - schedule.vector_width - columns // 4)
    skew = problem.ldx % schedule.vector_width if problem.rows > 1 else 0
    ldx = round_up(fewer, schedule.vector_width) + skew
    edges = replace(problem, rows=rows + rows // 2 + 1, columns=fewer, k=min(problem.k, fewer), ldx=ldx)
    return [(whole, schedule), (edges, schedule)]
