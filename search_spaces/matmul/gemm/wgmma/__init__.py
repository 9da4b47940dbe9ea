"""The kernel by wgmma, as gemm knows it."""

from __future__ import annotations

from autotune.codegen.matmul.gemm.wgmma.emit import emit
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .checks import checks
from .legal import constraints
from .seeds import candidates
from .space import has_wgmma, space
from .workload import workload

KERNEL = Kernel(WgmmaSchedule, emit, constraints, space, candidates, checks, workload, has_wgmma)
