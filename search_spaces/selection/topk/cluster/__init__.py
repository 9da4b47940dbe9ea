"""The kernel `cluster`, as topk knows it: for fewer rows than a GPU has SMs."""

from __future__ import annotations

from autotune.codegen.selection.topk.cluster.schedule import ClusterSchedule
from autotune.codegen.selection.topk.emit import emit
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(ClusterSchedule, emit, constraints, space, candidates, checks, workload, applies)
