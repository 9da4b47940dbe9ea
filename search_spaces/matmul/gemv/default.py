"""gemv: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.codegen.matmul.gemv.schedule import GemvSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .fma import seeds as fma
from .tensor_core import seeds as tensor_core
from .tensor_core.legal import preferred


def default(problem: GemvProblem, spec: DeviceSpec) -> GemvSchedule:
    """The first shape, with loads to registers; split over the grid, which every device can."""
    if preferred(problem, spec):
        return tensor_core.schedule(problem, spec, 0, 1)
    return fma.schedule(problem, spec, 0, 1)
