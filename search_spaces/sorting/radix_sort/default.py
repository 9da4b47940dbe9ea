"""radix_sort: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.model.schedule import Schedule
from autotune.codegen.sorting.radix_sort.cluster.schedule import CLUSTERS
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import block, cluster, onesweep

_CLUSTER_KEYS = 1 << 16  # of a row; the more keys a thread has, the sooner tiles are faster

KERNELS = (onesweep.KERNEL, block.KERNEL, cluster.KERNEL)


def default(problem: RadixSortProblem, spec: DeviceSpec) -> Schedule:
    """A block for each row that it has room for, a cluster for each of few rows that are little longer, or tiles."""
    few = problem.rows * CLUSTERS[-1] <= spec.sm_count and problem.columns <= _CLUSTER_KEYS
    if block.KERNEL.applies(problem, spec):
        return next(iter(block.KERNEL.candidates(problem, spec)))
    if few and cluster.KERNEL.applies(problem, spec):
        return next(iter(cluster.KERNEL.candidates(problem, spec)))
    return next(iter(onesweep.KERNEL.candidates(problem, spec)))
