"""gemv, as the rest of the project knows it."""

from __future__ import annotations

from pathlib import Path

from autotune.codegen.matmul.gemv.emit import emit, emit_reference
from autotune.codegen.matmul.gemv.presets import PRESETS
from autotune.codegen.matmul.gemv.problem import GemvProblem
from autotune.codegen.matmul.gemv.schedule import GemvSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .as_product import as_product
from .baselines import BASELINES
from .call import CALL
from .checks import checks
from .derivative import DERIVATIVE
from .seeds import candidates, default
from .space import constraints, space
from .workload import workload

OPERATOR = Operator(
    name="gemv",
    summary="y = activation(alpha·W·x + bias) + beta·y for 1 to 16 vectors x, such as a linear layer of few tokens",
    problem_type=GemvProblem,
    kernels=(Kernel(GemvSchedule, constraints, emit, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    suites=Path(__file__).parent / "suites",
    call=CALL,
    derivative=DERIVATIVE,
    restated=as_product,
)
