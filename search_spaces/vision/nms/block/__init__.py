"""The kernel `block`, as nms knows it."""

from __future__ import annotations

from autotune.codegen.vision.nms.block.schedule import BlockSchedule
from autotune.codegen.vision.nms.emit import emit_block
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space
from .workload import workload

KERNEL = Kernel(BlockSchedule, emit_block, constraints, space, candidates, checks, workload, applies=applies)
