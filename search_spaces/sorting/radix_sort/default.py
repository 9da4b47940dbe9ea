"""radix_sort: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.model.schedule import Schedule
from autotune.codegen.sorting.radix_sort.cluster.schedule import CLUSTERS
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import block, cluster, onesweep

_LEAST_KEYS, _MOST_KEYS = 1 << 13, 1 << 16  # of a row of a cluster; blocks or tiles sort others sooner

KERNELS = (onesweep.KERNEL, block.KERNEL, cluster.KERNEL)


def default(problem: RadixSortProblem, spec: DeviceSpec) -> Schedule:
    """A cluster for each of few rows that are long, a block for each row that it has room for, or tiles."""
    few = problem.rows * CLUSTERS[-1] <= spec.sm_count and _LEAST_KEYS <= problem.columns <= _MOST_KEYS
    if few and cluster.KERNEL.applies(problem, spec):
        return next(iter(cluster.KERNEL.candidates(problem, spec)))
    kernel = block.KERNEL if block.KERNEL.applies(problem, spec) else onesweep.KERNEL
    return next(iter(kernel.candidates(problem, spec)))
