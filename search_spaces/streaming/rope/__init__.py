"""rope, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.streaming.rope.emit import emit, emit_reference
from autotune.codegen.streaming.rope.presets import PRESETS
from autotune.codegen.streaming.rope.problem import RopeProblem
from autotune.codegen.streaming.rope.schedule import RopeSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE
from .space import candidates, checks, constraints, default, space
from .workload import workload

OPERATOR = Operator(
    name="rope",
    summary="rotary position embeddings of the heads of q and k, in one launch",
    problem_type=RopeProblem,
    kernels=(Kernel(RopeSchedule, emit, constraints, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
