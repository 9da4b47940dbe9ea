"""nms: the schedule to take without measuring."""

from __future__ import annotations

from autotune.codegen.vision.nms.block.schedule import BlockSchedule
from autotune.codegen.vision.nms.buckets.schedule import BucketsSchedule
from autotune.codegen.vision.nms.chunks.schedule import ChunksSchedule
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .block.space import applies
from .block.space import candidates as of_blocks
from .buckets.space import applies as has_classes
from .buckets.space import candidates as of_buckets
from .chunks.space import candidates as of_chunks

_MOST_OF_A_BLOCK = 4096  # boxes of an image that a few SMs compare in the time of a few launches


def default(problem: NmsProblem, spec: DeviceSpec) -> BlockSchedule | BucketsSchedule | ChunksSchedule:
    """A block for each image of few boxes, otherwise clusters for each of its classes, or many blocks for all of it."""
    if problem.candidates <= _MOST_OF_A_BLOCK and applies(problem, spec):
        return next(of_blocks(problem, spec))
    if has_classes(problem, spec) and (buckets := next(iter(of_buckets(problem, spec)), None)):
        return buckets
    return next(of_chunks(problem, spec))
