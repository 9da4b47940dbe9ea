"""nms: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.vision.nms.block.schedule import BlockSchedule
from autotune.codegen.vision.nms.chunks.schedule import ChunksSchedule
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .block.space import applies
from .block.space import candidates as of_blocks
from .chunks.space import candidates as of_chunks

_MOST_OF_A_BLOCK = 4096  # boxes of an image that a few SMs compare in the time of a few launches


def default(problem: NmsProblem, spec: DeviceSpec) -> BlockSchedule | ChunksSchedule:
    """A block for each image of few boxes, and otherwise many."""
    if problem.candidates <= _MOST_OF_A_BLOCK and applies(problem, spec):
        return next(of_blocks(problem, spec))
    return next(of_chunks(problem, spec))
