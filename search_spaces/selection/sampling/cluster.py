"""The kernel `cluster`, as sampling knows it: for fewer rows than a GPU has SMs."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.selection.sampling.cluster.schedule import CLUSTERS, ClusterSchedule
from autotune.codegen.selection.sampling.emit import emit
from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE
from autotune.search_spaces.selection.fitting import clusters, fitted

from .space import checks, constraints, space_of
from .workload import workload

_LEAST_OF_BLOCK = 2048  # elements, below which more blocks gain nothing
# Threads, loads in flight, candidates: a block's part is a few loads of each thread.
_SHAPES = ((1024, 2, 2048), (512, 4, 2048), (1024, 4, 2048))


def applies(problem: SamplingProblem, spec: DeviceSpec) -> bool:
    """Whether there are SMs for two blocks of each row, and elements for them."""
    return spec.compute_capability >= CLUSTERS_SINCE and len(_clusters(problem, spec)) > 0


def space(problem: SamplingProblem, spec: DeviceSpec) -> Space[ClusterSchedule]:
    """See `space_of`."""
    return space_of(ClusterSchedule, problem, spec, cluster=_clusters(problem, spec))


def candidates(problem: SamplingProblem, spec: DeviceSpec) -> Iterator[ClusterSchedule]:
    """As many blocks of a row as there are SMs for, and half of them."""
    for cluster in _clusters(problem, spec)[:-3:-1]:
        for threads, loads, kept in _SHAPES:
            schedule = ClusterSchedule(threads, problem.widest, loads, kept, cluster=cluster)
            yield fitted(problem, schedule, spec)


def _clusters(problem: SamplingProblem, spec: DeviceSpec) -> tuple[int, ...]:
    """Numbers of blocks that have an SM each, and enough of a row."""
    return clusters(CLUSTERS, problem.rows, problem.columns // _LEAST_OF_BLOCK, spec)


KERNEL = Kernel(ClusterSchedule, emit, constraints, space, candidates, checks, workload, applies)
