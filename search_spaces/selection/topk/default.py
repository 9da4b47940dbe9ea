"""topk: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.codegen.selection.topk.stream.schedule import StreamSchedule
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .stream.space import candidates as of_blocks
from .warps.space import applies
from .warps.space import candidates as of_warps

_MOST_COMPARED = 32  # results that a warp orders by few comparisons


def default(problem: TopkProblem, spec: DeviceSpec) -> StreamSchedule | WarpsSchedule:
    """A warp for each short row of few results, and otherwise a block or several."""
    if applies(problem, spec) and problem.k <= _MOST_COMPARED:
        return next(of_warps(problem, spec))
    return next(of_blocks(problem, spec))
