"""attention: the schedule to take without measuring."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import flash, mma_sync, wgmma

KERNELS: tuple[Kernel[Any, Any], ...] = (wgmma.KERNEL, mma_sync.KERNEL, flash.KERNEL)


def default(problem: AttentionProblem, spec: DeviceSpec) -> Schedule:
    """The first candidate of the first kernel that the device has, and that takes the operands."""
    chosen = next(kernel for kernel in KERNELS if kernel.applies(problem, spec))
    first: Schedule = next(iter(chosen.candidates(problem, spec)))
    return first
