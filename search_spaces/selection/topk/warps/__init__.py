"""The kernel `warps`, as topk knows it."""

from __future__ import annotations

from autotune.codegen.selection.topk.emit import emit
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(WarpsSchedule, emit, constraints, space, candidates, checks, workload, applies)
