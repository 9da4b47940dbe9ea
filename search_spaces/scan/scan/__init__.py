"""scan, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.scan.scan.emit import emit_reference
from autotune.codegen.scan.scan.presets import PRESETS
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.operator import Operator

from . import bulk, look_back, pipelined, rows
from .baselines import BASELINES
from .call import CALL
from .default import default

OPERATOR = Operator(
    name="scan",
    summary="y = running sums, products, maxima or minima, over all elements, along rows or within segments",
    problem_type=ScanProblem,
    kernels=(pipelined.KERNEL, bulk.KERNEL, look_back.KERNEL, rows.KERNEL),
    reference=emit_reference,
    default=default,
    presets=PRESETS,
    kernel_field="algorithm",
    baselines=BASELINES,
    call=CALL,
)
