"""sampling, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.selection.sampling.emit import emit
from autotune.codegen.selection.sampling.presets import PRESETS
from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.codegen.selection.sampling.schedule import SamplingSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from . import cluster
from .baselines import BASELINES
from .call import CALL
from .default import default
from .from_probs import FROM_PROBS
from .space import candidates, checks, constraints, space
from .workload import workload

OPERATOR: Operator[SamplingProblem, SamplingSchedule] = Operator(
    name="sampling",
    summary="a token of each row of logits, drawn by temperature, top-k, top-p and min-p of its own",
    problem_type=SamplingProblem,
    kernels=(Kernel(SamplingSchedule, emit, constraints, space, candidates, checks, workload), cluster.KERNEL),
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    shorthands=FROM_PROBS,
)
