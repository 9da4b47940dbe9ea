"""softmax_backward, as the rest of the project knows it."""

from __future__ import annotations

from pathlib import Path

from autotune.codegen.rows.softmax_backward.emit import emit, emit_reference
from autotune.codegen.rows.softmax_backward.presets import PRESETS
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .space import candidates, checks, constraints, default, space
from .workload import workload

OPERATOR = Operator(
    name="softmax_backward",
    summary="gradient of softmax, or of its logarithm, along the last axis: dx = scale · y · (dy - Σ y·dy)",
    problem_type=SoftmaxBackwardProblem,
    kernels=(Kernel(SoftmaxBackwardSchedule, constraints, emit, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    suites=Path(__file__).parent / "suites",
    call=CALL,
)
