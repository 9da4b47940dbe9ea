"""attention: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.attention.attention.flash.schedule import FlashSchedule
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import flash


def default(problem: AttentionProblem, spec: DeviceSpec) -> FlashSchedule:
    """The first candidate of the first kernel that the device has."""
    return next(iter(flash.KERNEL.candidates(problem, spec)))
