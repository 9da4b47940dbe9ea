"""The kernel by fused multiply-adds, as attention knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention.flash.emit import emit
from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(FlashSchedule, emit, constraints, space, candidates, checks, workload)
