"""The kernel that gathers keys first, as attention_decode knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention_decode.gathered.emit import emit
from autotune.codegen.attention.attention_decode.gathered.schedule import GatheredSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(GatheredSchedule, emit, constraints, space, candidates, checks, workload, applies)
