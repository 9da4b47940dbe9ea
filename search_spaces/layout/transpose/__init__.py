"""transpose, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.layout.transpose.emit import emit
from autotune.codegen.layout.transpose.presets import PRESETS
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE
from .ladder import rungs
from .seeds import candidates, default
from .space import checks, constraints, space
from .workload import workload

OPERATOR = Operator(
    name="transpose",
    summary="B[batch][n][m] = A[batch][m][n], out of place",
    problem_type=TransposeProblem,
    kernels=(Kernel(TransposeSchedule, emit, constraints, space, candidates, checks, workload),),
    default=default,
    presets=PRESETS,
    rungs=rungs,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
