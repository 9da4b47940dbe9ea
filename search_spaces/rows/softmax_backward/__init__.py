"""softmax_backward, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.softmax_backward.emit import emit, emit_reference
from autotune.codegen.rows.softmax_backward.presets import PRESETS
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.rows.row_checks import row_checks

from .baselines import BASELINES
from .call import CALL
from .space import candidates, constraints, default, space
from .workload import workload

OPERATOR = Operator(
    name="softmax_backward",
    summary="gradient of softmax, or of its logarithm, along the last axis: dx = scale · y · (dy - Σ y·dy)",
    problem_type=SoftmaxBackwardProblem,
    kernels=(Kernel(SoftmaxBackwardSchedule, emit, constraints, space, candidates, row_checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
