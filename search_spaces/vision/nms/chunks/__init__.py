"""The kernel `chunks`, as nms knows it."""

from __future__ import annotations

from autotune.codegen.vision.nms.chunks.schedule import ChunksSchedule
from autotune.codegen.vision.nms.emit import emit_chunks
from autotune.search_spaces.contract.kernel import Kernel

from .space import candidates, checks, constraints, space

KERNEL = Kernel(ChunksSchedule, emit_chunks, constraints, space, candidates, checks)
