"""The kernel `cluster`, as radix_sort knows it."""

from __future__ import annotations

from autotune.codegen.sorting.radix_sort.cluster.schedule import ClusterSchedule
from autotune.codegen.sorting.radix_sort.emit import emit_cluster
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.sorting.radix_sort.workload import cluster_workload

from .space import applies, candidates, checks, constraints, space

KERNEL = Kernel(ClusterSchedule, emit_cluster, constraints, space, candidates, checks, cluster_workload, applies)
