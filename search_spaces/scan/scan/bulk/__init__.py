"""The kernel `bulk`, as scan knows it."""

from __future__ import annotations

from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.codegen.scan.scan.emit import emit
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.scan.scan.checks import checks
from autotune.search_spaces.scan.scan.workload import workload

from .space import applies, candidates, constraints, space

KERNEL = Kernel(BulkSchedule, emit, constraints, space, candidates, checks, workload, applies)
