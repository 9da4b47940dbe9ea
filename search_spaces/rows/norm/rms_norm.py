"""rms_norm, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.norm.emit import emit, emit_reference
from autotune.codegen.rows.norm.presets import RMS_PRESETS
from autotune.codegen.rows.norm.problem import RmsNormProblem
from autotune.codegen.rows.norm.schedule import RmsNormSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.rows.row_checks import row_checks

from .baselines import RMS_BASELINES
from .call import RMS_CALL
from .derivative import RMS_DERIVATIVE
from .space import NormSpace, constraints
from .split import KERNEL as SPLIT
from .workload import workload

_SPACE = NormSpace(RmsNormSchedule)

OPERATOR = Operator(
    name="rms_norm",
    summary="y[r] = x[r] / sqrt(mean of x[r]^2 + eps) * weight along the last axes, with a residual if asked for",
    problem_type=RmsNormProblem,
    kernels=(Kernel(RmsNormSchedule, emit, constraints, _SPACE.space, _SPACE.candidates, row_checks, workload), SPLIT),
    reference=emit_reference,
    default=_SPACE.default,
    presets=RMS_PRESETS,
    baselines=RMS_BASELINES,
    call=RMS_CALL,
    derivative=RMS_DERIVATIVE,
)
