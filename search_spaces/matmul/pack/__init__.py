"""pack, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.matmul.pack.emit import emit
from autotune.codegen.matmul.pack.presets import PRESETS
from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.matmul.pack.schedule import PackSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .space import candidates, checks, constraints, default, space
from .workload import workload

OPERATOR = Operator(
    name="pack",
    summary="weights as codes, scales and zero points of 8 or 4 bits, as gemv reads them",
    problem_type=PackProblem,
    kernels=(Kernel(PackSchedule, emit, constraints, space, candidates, checks, workload),),
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
