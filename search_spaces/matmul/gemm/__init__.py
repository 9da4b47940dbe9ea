"""gemm, as the rest of the project knows it."""

from __future__ import annotations

from pathlib import Path

from autotune.codegen.matmul.gemm.emit import emit, emit_reference
from autotune.codegen.matmul.gemm.presets import PRESETS
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .as_gemv import as_gemv
from .baselines import BASELINES
from .call import CALL
from .checks import checks
from .derivative import DERIVATIVE
from .legal import constraints
from .seeds import candidates, default
from .space import space
from .workload import workload

OPERATOR = Operator(
    name="gemm",
    summary="D = activation(alpha·op(A)·op(B) + bias) + beta·C by tensor cores",
    problem_type=GemmProblem,
    kernels=(Kernel(GemmSchedule, constraints, emit, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    suites=Path(__file__).parent / "suites",
    call=CALL,
    derivative=DERIVATIVE,
    restated=as_gemv,
)
