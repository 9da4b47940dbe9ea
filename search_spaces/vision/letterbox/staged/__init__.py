"""The kernel `staged`, as letterbox knows it."""

from __future__ import annotations

from autotune.codegen.vision.letterbox.emit import emit_staged
from autotune.codegen.vision.letterbox.staged.schedule import StagedSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space

KERNEL = Kernel(StagedSchedule, emit_staged, constraints, space, candidates, checks, applies=applies)
