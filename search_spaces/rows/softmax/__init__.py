"""softmax, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.softmax.emit import emit, emit_reference
from autotune.codegen.rows.softmax.presets import PRESETS
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import SoftmaxSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL, log_softmax
from .derivative import DERIVATIVE
from .space import candidates, checks, constraints, default, space
from .split import KERNEL as SPLIT
from .workload import workload

OPERATOR = Operator(
    name="softmax",
    summary="softmax of x / temperature along the last axis, or its logarithm, with lengths or causal if asked for",
    problem_type=SoftmaxProblem,
    kernels=(Kernel(SoftmaxSchedule, emit, constraints, space, candidates, checks, workload), SPLIT),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
    shorthands=(log_softmax,),
)
