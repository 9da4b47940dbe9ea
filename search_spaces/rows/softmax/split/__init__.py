"""The kernel whose blocks share rows, as softmax knows it."""

from __future__ import annotations

from autotune.codegen.rows.softmax.split.emit import emit
from autotune.codegen.rows.softmax.split.schedule import SplitSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(SplitSchedule, emit, constraints, space, candidates, checks, workload, applies)
