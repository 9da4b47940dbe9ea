"""decode_anchors, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.vision.decode.emit import emit
from autotune.codegen.vision.decode.presets import PRESETS
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.codegen.vision.decode_anchors.problem import AnchorsProblem
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.vision.decode.space import candidates, checks, constraints, space

from .call import CALL

OPERATOR: Operator[AnchorsProblem, DecodeSchedule] = Operator(
    name="decode_anchors",
    summary="the boxes that a detector with anchors sees, in the order of its levels",
    problem_type=AnchorsProblem,
    kernels=(Kernel(DecodeSchedule, emit, constraints, space, candidates, checks),),
    presets=PRESETS,
    call=CALL,
)
