"""The kernel `filtered`, as letterbox knows it."""

from __future__ import annotations

from autotune.codegen.vision.letterbox.emit import emit_filtered
from autotune.codegen.vision.letterbox.filtered.schedule import FilteredSchedule
from autotune.search_spaces.contract.kernel import Kernel

from .space import applies, candidates, checks, constraints, space

KERNEL = Kernel(FilteredSchedule, emit_filtered, constraints, space, candidates, checks, applies=applies)
