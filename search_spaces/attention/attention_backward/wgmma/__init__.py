"""The kernel by wgmma, as attention_backward knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention_backward.wgmma.emit import emit
from autotune.codegen.attention.attention_backward.wgmma.schedule import WgmmaSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(WgmmaSchedule, emit, constraints, space, candidates, checks, workload, applies)
