"""attention_backward: the schedule to take without measuring."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import mma_sync, wgmma

KERNELS: tuple[Kernel[Any, Any], ...] = (wgmma.KERNEL, mma_sync.KERNEL)


def default(problem: AttentionBackwardProblem, spec: DeviceSpec) -> Schedule:
    """The first candidate by wgmma, where the device has it and it takes the operands."""
    first: Schedule
    if wgmma.KERNEL.applies(problem, spec):
        first = next(iter(wgmma.KERNEL.candidates(problem, spec)))
    else:
        first = next(iter(mma_sync.KERNEL.candidates(problem, spec)))
    return first
