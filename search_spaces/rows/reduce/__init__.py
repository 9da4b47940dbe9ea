"""reduce, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.rows.reduce.emit import emit, emit_reference
from autotune.codegen.rows.reduce.presets import PRESETS
from autotune.codegen.rows.reduce.problem import ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .checks import checks
from .derivative import DERIVATIVE
from .seeds import candidates, default
from .space import constraints, space
from .workload import workload

OPERATOR = Operator(
    name="reduce",
    summary="y = sum, mean, norm, dot product, extreme or its index, of all of a matrix, its rows, columns or segments",
    problem_type=ReduceProblem,
    kernels=(Kernel(ReduceSchedule, emit, constraints, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
