"""The kernel by the tensor cores of warps, as attention_decode knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention_decode.mma_sync.emit import emit
from autotune.codegen.attention.attention_decode.mma_sync.schedule import MmaSyncSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(MmaSyncSchedule, emit, constraints, space, candidates, checks, workload, applies)
