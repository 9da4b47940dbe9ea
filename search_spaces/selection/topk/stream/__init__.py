"""The kernel `stream`, as topk knows it."""

from __future__ import annotations

from autotune.codegen.selection.topk.emit import emit
from autotune.codegen.selection.topk.stream.schedule import StreamSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(StreamSchedule, emit, constraints, space, candidates, checks, workload)
