"""norm_backward, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.norm_backward.emit import emit, emit_reference
from autotune.codegen.rows.norm_backward.presets import PRESETS
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.codegen.rows.norm_backward.schedule import NormBackwardSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .space import candidates, checks, constraints, default, space
from .workload import workload

OPERATOR = Operator(
    name="norm_backward",
    summary="gradients of rms_norm and layer_norm: those of their inputs, weights and biases",
    problem_type=NormBackwardProblem,
    kernels=(Kernel(NormBackwardSchedule, emit, constraints, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
