"""cross_entropy_backward, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.cross_entropy.emit import emit, emit_reference
from autotune.codegen.rows.cross_entropy.presets import BACKWARD_PRESETS
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.rows.row_checks import row_checks

from .baselines import BACKWARD_BASELINES
from .call import BACKWARD_CALL
from .space import CrossEntropySpace, constraints
from .workload import workload

_SPACE = CrossEntropySpace(CrossEntropyBackwardSchedule)

OPERATOR = Operator(
    name="cross_entropy_backward",
    summary="gradient of the logits of a cross-entropy, from log(sum of exp) and the gradients of the losses",
    problem_type=CrossEntropyBackwardProblem,
    kernels=(
        Kernel(CrossEntropyBackwardSchedule, emit, constraints, _SPACE.space, _SPACE.candidates, row_checks, workload),
    ),
    reference=emit_reference,
    default=_SPACE.default,
    presets=BACKWARD_PRESETS,
    baselines=BACKWARD_BASELINES,
    call=BACKWARD_CALL,
)
