"""The kernel by mma.sync, as gemm knows it."""

from __future__ import annotations

from autotune.codegen.matmul.gemm.mma_sync.emit import emit
from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .checks import checks
from .legal import constraints
from .seeds import candidates
from .space import space
from .workload import workload

KERNEL = Kernel(MmaSyncSchedule, emit, constraints, space, candidates, checks, workload)
