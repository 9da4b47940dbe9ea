"""sgemm: which schedules are legal, which to draw from, which to try first."""

from __future__ import annotations

from autotune.codegen.matmul.sgemm.emit import emit, emit_reference
from autotune.codegen.matmul.sgemm.presets import PRESETS
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import SgemmSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .as_gemv import as_gemv
from .baselines import BASELINES, PUBLISHED
from .call import CALL
from .checks import checks
from .cublas import SUBSTITUTES
from .derivative import DERIVATIVE
from .ladder import rungs
from .legal import constraints
from .seeds import candidates, default
from .space import space
from .workload import workload

OPERATOR = Operator(
    name="sgemm",
    summary="C = alpha·op(A)·op(B) + beta·C in FP32",
    problem_type=SgemmProblem,
    kernels=(Kernel(SgemmSchedule, emit, constraints, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    rungs=rungs,
    baselines=BASELINES,
    published=PUBLISHED,
    call=CALL,
    derivative=DERIVATIVE,
    substitutes=SUBSTITUTES,
    restated=as_gemv,
)
