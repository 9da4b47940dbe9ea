"""The ladder of attention kernels, each rung one idea above the last."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from autotune.codegen.model.program import Program

from .emit import emit_naive
from .flash.emit import emit as emit_flash
from .flash.schedule import FlashSchedule
from .problem import AttentionProblem

PRESETS: Mapping[str, Callable[[AttentionProblem], Program]] = {
    "naive": emit_naive,
    "flash": lambda problem: emit_flash(problem, FlashSchedule()),
}
