"""gemm, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.matmul.gemm.emit import emit_reference
from autotune.codegen.matmul.gemm.presets import PRESETS
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.search_spaces.contract.operator import Operator

from . import mma_sync, wgmma
from .as_gemv import as_gemv
from .baselines import BASELINES
from .call import CALL
from .default import default
from .derivative import DERIVATIVE

OPERATOR = Operator(
    name="gemm",
    summary="D = activation(alpha·op(A)·op(B) + bias) + beta·C by tensor cores",
    problem_type=GemmProblem,
    kernels=(wgmma.KERNEL, mma_sync.KERNEL),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    kernel_field="instruction",
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
    restated=as_gemv,
)
