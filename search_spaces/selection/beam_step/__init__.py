"""beam_step, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.selection.beam_step.emit import emit, emit_naive
from autotune.codegen.selection.beam_step.problem import BeamStepProblem
from autotune.codegen.selection.beam_step.schedule import BeamStepSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.selection.topk.stream.space import constraints
from autotune.search_spaces.selection.topk.stream.workload import workload

from .baselines import BASELINES
from .call import CALL
from .space import candidates, checks, space

OPERATOR: Operator[BeamStepProblem, BeamStepSchedule] = Operator(
    name="beam_step",
    summary="the best continuations of each request's beams by one token each, of a beam search",
    problem_type=BeamStepProblem,
    kernels=(Kernel(BeamStepSchedule, emit, constraints, space, candidates, checks, workload),),
    presets={"naive": emit_naive},
    baselines=BASELINES,
    call=CALL,
)
