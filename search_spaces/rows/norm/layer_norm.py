"""layer_norm, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.norm.emit import emit, emit_reference
from autotune.codegen.rows.norm.presets import LAYER_PRESETS
from autotune.codegen.rows.norm.problem import LayerNormProblem
from autotune.codegen.rows.norm.schedule import LayerNormSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.rows.row_checks import row_checks

from .baselines import LAYER_BASELINES
from .call import LAYER_CALL
from .derivative import LAYER_DERIVATIVE
from .space import NormSpace, constraints
from .split import KERNEL as SPLIT
from .workload import workload

_SPACE = NormSpace(LayerNormSchedule)

OPERATOR = Operator(
    name="layer_norm",
    summary="y[r] = (x[r] - mean) / sqrt(variance of x[r] + eps) * weight + bias along the last axes",
    problem_type=LayerNormProblem,
    kernels=(
        Kernel(LayerNormSchedule, emit, constraints, _SPACE.space, _SPACE.candidates, row_checks, workload),
        SPLIT,
    ),
    reference=emit_reference,
    default=_SPACE.default,
    presets=LAYER_PRESETS,
    baselines=LAYER_BASELINES,
    call=LAYER_CALL,
    derivative=LAYER_DERIVATIVE,
)
