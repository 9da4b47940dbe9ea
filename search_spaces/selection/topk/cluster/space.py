"""topk: schedules of a cluster for each row, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.selection.topk.cluster.schedule import CLUSTERS, ClusterSchedule
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.vectors import vectors_of_row
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE
from autotune.search_spaces.selection.fitting import clusters

_VECTORS: tuple[int, ...] = field_specs(ClusterSchedule)["vectors"].values
_CANDIDATES: tuple[int, ...] = field_specs(ClusterSchedule)["candidates"].values
_MOST_ITEMS = 32  # keys of a thread
_MOST_THREADS = 1024
_LEAST_OF_BLOCK = 1024  # elements


def constraints(problem: TopkProblem, schedule: ClusterSchedule, spec: DeviceSpec) -> list[str]:
    """What makes a schedule illegal beyond its fields and its footprint; nothing if it is legal."""
    found = []
    width, lanes = schedule.vector_width, schedule.threads * schedule.cluster
    if width > problem.widest:
        found.append(f"vector_width {width} over the {problem.widest} elements that X is aligned for")
    if schedule.items > _MOST_ITEMS:
        found.append(f"vectors {schedule.vectors} of {width} elements over the {_MOST_ITEMS} keys of a thread")
    if schedule.vectors * lanes < (needed := vectors_of_row(problem, width)):
        found.append(f"vectors {schedule.vectors} of {lanes} threads below the {needed} of a row")
    if schedule.candidates < problem.k:
        found.append(f"candidates {schedule.candidates} below the {problem.k} results of a row")
    return found


def applies(problem: TopkProblem, spec: DeviceSpec) -> bool:
    """Whether there are SMs for two blocks of each row, which can hold it, and elements for them."""
    held = max(_clusters(problem, spec), default=0) * _MOST_THREADS * _MOST_ITEMS
    return spec.compute_capability >= CLUSTERS_SINCE and problem.columns <= held - max(1, problem.widest)


def space(problem: TopkProblem, spec: DeviceSpec) -> Space[ClusterSchedule]:
    """Vectors and candidates are drawn and raised to what a row takes, so that most draws are legal."""
    widths = tuple(width for width in (1, 2, 4, 8) if width <= problem.widest)
    return Space(
        field_parameters(ClusterSchedule, vector_width=widths, cluster=_clusters(problem, spec)),
        lambda draw: _built(problem, draw),
    )


def _built(problem: TopkProblem, draw: Draw) -> ClusterSchedule:
    return _fitted(problem, ClusterSchedule.from_dict(draw))


def _fitted(problem: TopkProblem, schedule: ClusterSchedule) -> ClusterSchedule:
    """The schedule with the fewest vectors that hold a row, and room for its results."""
    needed = ceil_div(vectors_of_row(problem, schedule.vector_width), schedule.threads * schedule.cluster)
    vectors = next((few for few in _VECTORS if few >= needed), _VECTORS[-1])
    room = next(few for few in _CANDIDATES if few >= problem.k)
    return schedule.replace(vectors=vectors, candidates=max(room, schedule.candidates))


def candidates(problem: TopkProblem, spec: DeviceSpec) -> Iterator[ClusterSchedule]:
    """As many blocks of a row as there are SMs for, and half of them."""
    for cluster in _clusters(problem, spec)[:-3:-1]:
        for threads in (1024, 512):
            for kept in (1024, 2048):
                first = ClusterSchedule(threads, problem.widest, candidates=kept, cluster=cluster)
                yield _fitted(problem, first)


def checks(problem: TopkProblem, schedule: ClusterSchedule) -> list[tuple[TopkProblem, ClusterSchedule]]:
    """Rows that fill the threads; and rows of fewer elements that begin as the problem's do."""
    columns = schedule.threads * schedule.cluster * schedule.items
    whole = replace(problem, rows=1, columns=columns, k=min(problem.k, columns), ldx=0)
    fewer = max(1, columns - schedule.vector_width - columns // 4)
    skew = problem.ldx % schedule.vector_width if problem.rows > 1 else 0
    ldx = round_up(fewer, schedule.vector_width) + skew
    return [(whole, schedule), (replace(whole, rows=2, columns=fewer, k=min(problem.k, fewer), ldx=ldx), schedule)]


def _clusters(problem: TopkProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Numbers of blocks that have an SM each, and enough of a row."""
    return clusters(CLUSTERS, problem.rows, problem.columns // _LEAST_OF_BLOCK, spec)
