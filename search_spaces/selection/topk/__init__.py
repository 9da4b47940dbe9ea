"""topk, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.selection.topk.presets import PRESETS
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.search_spaces.contract.operator import Operator

from . import cluster, stream, warps
from .baselines import BASELINES
from .call import CALL
from .default import default
from .derivative import DERIVATIVE

OPERATOR = Operator(
    name="topk",
    summary="the k largest or smallest elements of each row, and their columns",
    problem_type=TopkProblem,
    kernels=(stream.KERNEL, warps.KERNEL, cluster.KERNEL),
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=DERIVATIVE,
)
