"""causal_conv1d_update, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.convolution.causal_conv1d_update.emit import emit, emit_naive, emit_reference
from autotune.codegen.convolution.causal_conv1d_update.problem import CausalConv1dUpdateProblem
from autotune.codegen.convolution.causal_conv1d_update.schedule import CausalConv1dUpdateSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL

OPERATOR: Operator[CausalConv1dUpdateProblem, CausalConv1dUpdateSchedule] = Operator(
    name="causal_conv1d_update",
    summary="the next steps of a causal_conv1d of each request, and its state, in place",
    problem_type=CausalConv1dUpdateProblem,
    kernels=(Kernel(CausalConv1dUpdateSchedule, emit),),
    reference=emit_reference,
    presets={"naive": emit_naive},
    call=CALL,
)
