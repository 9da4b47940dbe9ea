"""decode, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.vision.decode.emit import emit
from autotune.codegen.vision.decode.presets import PRESETS
from autotune.codegen.vision.decode.problem import DecodeProblem
from autotune.codegen.vision.decode.schedule import DecodeSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL
from .space import candidates, checks, constraints, space

OPERATOR: Operator[DecodeProblem, DecodeSchedule] = Operator(
    name="decode",
    summary="the boxes that a detector without anchors sees, in the order of its points",
    problem_type=DecodeProblem,
    kernels=(Kernel(DecodeSchedule, emit, constraints, space, candidates, checks),),
    presets=PRESETS,
    call=CALL,
)
