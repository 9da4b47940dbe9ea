"""The kernel by the tensor cores of warps, as attention_backward knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention_backward.mma_sync.emit import emit
from autotune.codegen.attention.attention_backward.mma_sync.schedule import MmaSyncSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(MmaSyncSchedule, emit, constraints, space, candidates, checks, workload)
