"""The kernel by tensor cores, as gemv knows it."""

from __future__ import annotations

from autotune.codegen.matmul.gemv.emit import emit
from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.codegen.matmul.gemv.tensor_core.schedule import TensorCoreSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.space import Space
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.matmul.gemv import fitting
from autotune.search_spaces.matmul.gemv.checks import checks
from autotune.search_spaces.matmul.gemv.workload import workload

from .legal import applies, constraints, fitted
from .seeds import candidates


def space(problem: GemvProblem, spec: DeviceSpec) -> Space[TensorCoreSchedule]:
    """See `fitting.space`."""
    return fitting.space(problem, spec, TensorCoreSchedule, fitted)


KERNEL = Kernel(TensorCoreSchedule, emit, constraints, space, candidates, checks, workload, applies)
