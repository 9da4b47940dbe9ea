"""The kernel by FMAs, as gemv knows it."""

from __future__ import annotations

from autotune.codegen.matmul.gemv.emit import emit
from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.matmul.gemv.checks import checks
from autotune.search_spaces.matmul.gemv.workload import workload

from .seeds import candidates
from .space import constraints, space

KERNEL = Kernel(FmaSchedule, emit, constraints, space, candidates, checks, workload)
