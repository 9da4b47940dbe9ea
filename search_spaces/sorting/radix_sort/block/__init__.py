"""The kernel `block`, as radix_sort knows it."""

from __future__ import annotations

from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.emit import emit_block
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.sorting.radix_sort.workload import block_workload

from .space import applies, candidates, checks, constraints, space

KERNEL = Kernel(BlockSchedule, emit_block, constraints, space, candidates, checks, block_workload, applies)
