"""The kernel `buckets`, as radix_sort knows it."""

from __future__ import annotations

from autotune.codegen.sorting.radix_sort.buckets.schedule import BucketsSchedule
from autotune.codegen.sorting.radix_sort.emit import emit_buckets
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.sorting.radix_sort.onesweep.space import checks
from autotune.search_spaces.sorting.radix_sort.workload import buckets_workload

from .space import applies, candidates, constraints, space

KERNEL = Kernel(BucketsSchedule, emit_buckets, constraints, space, candidates, checks, buckets_workload, applies)
