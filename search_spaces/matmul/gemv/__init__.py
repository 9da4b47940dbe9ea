"""gemv, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.matmul.gemv.emit import emit_reference
from autotune.codegen.matmul.gemv.presets import PRESETS
from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.search_spaces.contract.operator import Operator

from . import fma, tensor_core
from .as_product import as_product
from .baselines import BASELINES
from .call import CALL
from .default import default
from .derivative import DERIVATIVE

OPERATOR = Operator(
    name="gemv",
    summary="y = activation(alpha·W·x + bias) + beta·y for 1 to 16 vectors x, such as a linear layer of few tokens",
    problem_type=GemvProblem,
    kernels=(fma.KERNEL, tensor_core.KERNEL),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    kernel_field="unit",
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
    restated=as_product,
)
