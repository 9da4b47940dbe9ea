"""map, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.streaming.map.emit import emit, emit_reference
from autotune.codegen.streaming.map.presets import PRESETS
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import MapSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .checks import checks
from .derivative import DERIVATIVE
from .functions import FUNCTIONS
from .seeds import candidates
from .space import constraints, space
from .workload import workload

OPERATOR: Operator[MapProblem, MapSchedule] = Operator(
    name="map",
    summary="y = (f(x + bias)·u + residual)·scale for each element: activations, gated pairs, casts, their gradients",
    problem_type=MapProblem,
    kernels=(Kernel(MapSchedule, emit, constraints, space, candidates, checks, workload),),
    reference=emit_reference,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    shorthands=FUNCTIONS,
    derivative=DERIVATIVE,
)
