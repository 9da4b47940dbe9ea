"""chain_speculative_sampling, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.selection.chain_speculative_sampling.emit import emit, emit_naive
from autotune.codegen.selection.chain_speculative_sampling.problem import ChainSpeculativeSamplingProblem
from autotune.codegen.selection.chain_speculative_sampling.schedule import ChainSpeculativeSamplingSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL

OPERATOR: Operator[ChainSpeculativeSamplingProblem, ChainSpeculativeSamplingSchedule] = Operator(
    name="chain_speculative_sampling",
    summary="the draft tokens of each row that a target accepts, and the next one, drawn from what is left",
    problem_type=ChainSpeculativeSamplingProblem,
    kernels=(Kernel(ChainSpeculativeSamplingSchedule, emit),),
    presets={"naive": emit_naive},
    call=CALL,
)
