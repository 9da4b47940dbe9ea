"""The kernel `onesweep`, as radix_sort knows it."""

from __future__ import annotations

from autotune.codegen.sorting.radix_sort.emit import emit_onesweep
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.sorting.radix_sort.workload import onesweep_workload

from .space import candidates, checks, constraints, space

KERNEL = Kernel(OnesweepSchedule, emit_onesweep, constraints, space, candidates, checks, onesweep_workload)
