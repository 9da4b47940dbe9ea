"""scan, as the rest of the project knows it."""

from __future__ import annotations

from pathlib import Path

from autotune.codegen.scan.scan.emit import emit, emit_reference
from autotune.codegen.scan.scan.presets import PRESETS
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .checks import checks
from .seeds import candidates, default
from .space import constraints, space
from .workload import workload

OPERATOR = Operator(
    name="scan",
    summary="y = running sums, products, maxima or minima, over all elements, along rows or within segments",
    problem_type=ScanProblem,
    kernels=(Kernel(ScanSchedule, constraints, emit, space, candidates, checks, workload),),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    suites=Path(__file__).parent / "suites",
    call=CALL,
)
