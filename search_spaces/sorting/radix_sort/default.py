"""radix_sort: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.model.schedule import Schedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import block, onesweep

KERNELS = (onesweep.KERNEL, block.KERNEL)


def default(problem: RadixSortProblem, spec: DeviceSpec) -> Schedule:
    """A block for each row that it has room for, and otherwise tiles."""
    kernel = block.KERNEL if block.KERNEL.applies(problem, spec) else onesweep.KERNEL
    return next(iter(kernel.candidates(problem, spec)))
