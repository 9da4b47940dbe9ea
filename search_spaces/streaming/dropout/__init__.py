"""dropout, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.streaming.dropout.emit import emit
from autotune.codegen.streaming.dropout.presets import PRESETS
from autotune.codegen.streaming.dropout.problem import DropoutProblem
from autotune.codegen.streaming.dropout.schedule import DropoutSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE
from .space import candidates, checks, constraints, default, space
from .workload import workload

OPERATOR = Operator(
    name="dropout",
    summary="y = dropout(x + bias) + residual, by random numbers that follow from seed, offset and index",
    problem_type=DropoutProblem,
    kernels=(Kernel(DropoutSchedule, emit, constraints, space, candidates, checks, workload),),
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
