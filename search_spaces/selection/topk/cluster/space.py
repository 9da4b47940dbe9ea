"""topk: schedules of a cluster for each row, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.model.fields import field_specs
from autotune.codegen.selection.topk.cluster.schedule import CLUSTERS, ClusterSchedule
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE
from autotune.search_spaces.selection.fitting import clusters
from autotune.search_spaces.selection.topk.held_rows import checks_of_rows, holding, unheld, widths

_VECTORS: tuple[int, ...] = field_specs(ClusterSchedule)["vectors"].values
_CANDIDATES: tuple[int, ...] = field_specs(ClusterSchedule)["candidates"].values
_MOST_ITEMS = 32  # keys of a thread
_MOST_THREADS = 1024
_LEAST_OF_BLOCK = 1024  # elements


def constraints(problem: TopkProblem, schedule: ClusterSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    yield from unheld(problem, schedule, schedule.threads * schedule.cluster, _MOST_ITEMS)
    if schedule.candidates < problem.k:
        yield f"candidates {schedule.candidates} below the {problem.k} results of a row"


def applies(problem: TopkProblem, spec: DeviceSpec) -> bool:
    """Whether there are SMs for two blocks of each row, which can hold it, and elements for them."""
    held = max(_clusters(problem, spec), default=0) * _MOST_THREADS * _MOST_ITEMS
    return spec.compute_capability >= CLUSTERS_SINCE and problem.columns <= held - max(1, problem.widest)


def space(problem: TopkProblem, spec: DeviceSpec) -> Space[ClusterSchedule]:
    """Vectors and candidates are drawn and raised to what a row takes, so that most draws are legal."""
    return Space(
        field_parameters(ClusterSchedule, vector_width=widths(problem), cluster=_clusters(problem, spec)),
        lambda draw: _fitted(problem, ClusterSchedule.from_dict(draw)),
    )


def _fitted(problem: TopkProblem, schedule: ClusterSchedule) -> ClusterSchedule:
    """The schedule with the fewest vectors that hold a row, and room for its results."""
    room = next(few for few in _CANDIDATES if few >= problem.k)
    held = holding(problem, schedule, schedule.threads * schedule.cluster, _VECTORS)
    return held.replace(candidates=max(room, schedule.candidates))


def candidates(problem: TopkProblem, spec: DeviceSpec) -> Iterator[ClusterSchedule]:
    """As many blocks of a row as there are SMs for, and half of them."""
    for cluster in _clusters(problem, spec)[:-3:-1]:
        for threads in (1024, 512):
            for kept in (1024, 2048):
                first = ClusterSchedule(threads, problem.widest, candidates=kept, cluster=cluster)
                yield _fitted(problem, first)


def checks(problem: TopkProblem, schedule: ClusterSchedule) -> list[tuple[TopkProblem, ClusterSchedule]]:
    """See `checks_of_rows`."""
    return checks_of_rows(problem, schedule, 1, schedule.threads * schedule.cluster)


def _clusters(problem: TopkProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Numbers of blocks that have an SM each, and enough of a row."""
    return clusters(CLUSTERS, problem.rows, problem.columns // _LEAST_OF_BLOCK, spec)
