"""causal_conv1d, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.convolution.causal_conv1d.emit import emit, emit_reference
from autotune.codegen.convolution.causal_conv1d.presets import PRESETS
from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.codegen.convolution.causal_conv1d.schedule import CausalConv1dSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE
from .space import candidates, checks, constraints, space
from .workload import workload

OPERATOR: Operator[CausalConv1dProblem, CausalConv1dSchedule] = Operator(
    name="causal_conv1d",
    summary="a filter for each channel over the steps of sequences, with bias, activation and states",
    problem_type=CausalConv1dProblem,
    kernels=(Kernel(CausalConv1dSchedule, emit, constraints, space, candidates, checks, workload),),
    reference=emit_reference,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
