"""nms, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.vision.nms.presets import PRESETS
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.contract.operator import Operator

from . import block, buckets, chunks
from .baselines import BASELINES
from .call import CALL, batched_nms
from .default import default

OPERATOR = Operator(
    name="nms",
    summary="the boxes of each image that no better box of their class overlaps",
    problem_type=NmsProblem,
    kernels=(block.KERNEL, chunks.KERNEL, buckets.KERNEL),
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    shorthands=(batched_nms,),
)
