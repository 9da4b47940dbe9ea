"""The kernel by fused multiply-adds, as attention_decode knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention_decode.fma.emit import emit
from autotune.codegen.attention.attention_decode.fma.schedule import FmaSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(FmaSchedule, emit, constraints, space, candidates, checks, workload)
