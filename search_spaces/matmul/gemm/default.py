"""gemm: the schedule to take without measuring."""

from __future__ import annotations

from itertools import islice
from typing import Any

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import mma_sync, wgmma
from .order import rank

_KERNELS: tuple[Kernel[GemmProblem, Any], ...] = (wgmma.KERNEL, mma_sync.KERNEL)


def default(problem: GemmProblem, spec: DeviceSpec) -> GemmSchedule:
    """The first candidate of wgmma, or of mma_sync if the time model prefers that or there is no other."""
    problem = problem.least_of_bucket
    firsts: dict[GemmSchedule, int] = {}
    for kernel in _KERNELS:
        for first in islice(kernel.candidates(problem, spec), 1):
            firsts[first] = rank(kernel.workload, problem, first, spec)
    return min(firsts, key=firsts.__getitem__)
