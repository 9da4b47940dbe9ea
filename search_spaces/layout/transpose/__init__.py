"""transpose, as the rest of the project knows it."""

from __future__ import annotations

from pathlib import Path

from autotune.codegen.layout.transpose.emit import emit, emit_naive
from autotune.codegen.layout.transpose.presets import PRESETS
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .derivative import DERIVATIVE
from .seeds import candidates, default
from .space import checks, constraints, space
from .workload import workload

OPERATOR = Operator(
    name="transpose",
    summary="B[batch][n][m] = A[batch][m][n], out of place",
    problem_type=TransposeProblem,
    schedule_type=TransposeSchedule,
    constraints=constraints,
    emit=emit,
    reference=emit_naive,
    space=space,
    default=default,
    candidates=candidates,
    presets=PRESETS,
    checks=checks,
    workload=workload,
    baselines=BASELINES,
    suites=Path(__file__).parent / "suites",
    call=CALL,
    derivative=DERIVATIVE,
)
