"""The kernel `cluster`, as topk knows it."""

from __future__ import annotations

from autotune.codegen.selection.topk.cluster.schedule import ClusterSchedule
from autotune.codegen.selection.topk.emit import emit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.selection.topk.stream.space import checks, constraints
from autotune.search_spaces.selection.topk.stream.workload import workload

from .space import applies, candidates, space

KERNEL = Kernel(ClusterSchedule, emit, constraints, space, candidates, checks, workload, applies)
