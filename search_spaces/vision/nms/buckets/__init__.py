"""The kernel `buckets`, as nms knows it."""

from __future__ import annotations

from autotune.codegen.vision.nms.buckets.schedule import BucketsSchedule
from autotune.codegen.vision.nms.emit import emit_buckets
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space

KERNEL = Kernel(BucketsSchedule, emit_buckets, constraints, space, candidates, checks, applies=applies)
