"""cross_entropy, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.cross_entropy.emit import emit, emit_reference
from autotune.codegen.rows.cross_entropy.presets import PRESETS
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropySchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.rows.row_checks import row_checks

from .baselines import FORWARD_BASELINES
from .call import CALL
from .derivative import DERIVATIVE
from .space import CrossEntropySpace, constraints
from .split import KERNEL as SPLIT
from .workload import workload

_SPACE = CrossEntropySpace(CrossEntropySchedule)

OPERATOR = Operator(
    name="cross_entropy",
    summary="loss[r] = log(sum of exp(x[r])) - x[r, target[r]] along the last axis, and its gradient if asked for",
    problem_type=CrossEntropyProblem,
    kernels=(
        Kernel(CrossEntropySchedule, emit, constraints, _SPACE.space, _SPACE.candidates, row_checks, workload),
        SPLIT,
    ),
    reference=emit_reference,
    default=_SPACE.default,
    presets=PRESETS,
    baselines=FORWARD_BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
