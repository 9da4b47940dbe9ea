"""letterbox_mixed, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.vision.letterbox.filtered.schedule import FilteredSchedule
from autotune.codegen.vision.letterbox.presets import PRESETS
from autotune.codegen.vision.letterbox.schedule import LetterboxSchedule
from autotune.codegen.vision.letterbox.staged.schedule import StagedSchedule
from autotune.codegen.vision.letterbox_mixed.problem import MixedProblem
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.vision import letterbox
from autotune.search_spaces.vision.letterbox.default import default

from .call import CALL
from .kernels import of_mixed

OPERATOR: Operator[MixedProblem, LetterboxSchedule | StagedSchedule | FilteredSchedule] = Operator(
    name="letterbox_mixed",
    summary="pictures of bytes of many sizes, resized to fit into a target, as numbers of a network",
    problem_type=MixedProblem,
    kernels=tuple(map(of_mixed, letterbox.OPERATOR.kernels)),
    default=default,
    presets=PRESETS,
    call=CALL,
)
