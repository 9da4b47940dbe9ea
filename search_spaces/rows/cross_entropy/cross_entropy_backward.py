"""cross_entropy_backward, as the rest of the project knows it."""

from __future__ import annotations

from pathlib import Path

from autotune.codegen.rows.cross_entropy.emit import emit, emit_reference
from autotune.codegen.rows.cross_entropy.presets import BACKWARD_PRESETS
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule
from autotune.search_spaces.contract.operator import Operator

from .baselines import BACKWARD_BASELINES
from .call import BACKWARD_CALL
from .space import CrossEntropySpace, checks, constraints
from .workload import workload

_SPACE = CrossEntropySpace(CrossEntropyBackwardSchedule)

OPERATOR = Operator(
    name="cross_entropy_backward",
    summary="gradient of the logits of a cross-entropy, from log(sum of exp) and the gradients of the losses",
    problem_type=CrossEntropyBackwardProblem,
    schedule_type=CrossEntropyBackwardSchedule,
    constraints=constraints,
    emit=emit,
    reference=emit_reference,
    space=_SPACE.space,
    default=_SPACE.default,
    candidates=_SPACE.candidates,
    presets=BACKWARD_PRESETS,
    checks=checks,
    workload=workload,
    baselines=BACKWARD_BASELINES,
    suites=Path(__file__).parent / "suites" / "backward",
    call=BACKWARD_CALL,
)
