"""attention_decode: the schedule to take without measuring."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import fma, gathered, mma_sync

KERNELS: tuple[Kernel[Any, Any], ...] = (mma_sync.KERNEL, fma.KERNEL, gathered.KERNEL)
_LEAST_ROWS = 4  # of a group of heads: with fewer, most of what tensor cores do is for nothing


def default(problem: AttentionDecodeProblem, spec: DeviceSpec) -> Schedule:
    """The first candidate: of chunks by gathered keys, else by tensor cores if a group of heads has some rows.

    Loads must be aligned for them.
    """
    by_tensor_cores = problem.group * problem.queries >= _LEAST_ROWS and mma_sync.KERNEL.applies(problem, spec)
    usual = mma_sync.KERNEL if by_tensor_cores else fma.KERNEL
    chosen = gathered.KERNEL if gathered.KERNEL.applies(problem, spec) else usual
    first: Schedule = next(iter(chosen.candidates(problem, spec)))
    return first
