"""The kernel whose blocks share rows, as softmax knows it."""

from __future__ import annotations

from autotune.codegen.rows.softmax.split.emit import emit

from .space import SPACE
from .workload import workload

KERNEL = SPACE.kernel(emit, workload)
