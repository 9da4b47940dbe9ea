"""sampling: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.codegen.selection.sampling.schedule import SamplingSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from . import cluster
from .space import candidates as of_blocks

_FEW = 8  # rows, as of which what clusters select with top-k takes as long as what blocks do


def default(problem: SamplingProblem, spec: DeviceSpec) -> SamplingSchedule:
    """A cluster for each row where there are SMs for several blocks, and otherwise a block."""
    few = problem.rows <= _FEW or not problem.top_k
    if few and cluster.KERNEL.applies(problem, spec):
        return next(cluster.candidates(problem, spec))
    return next(of_blocks(problem, spec))
