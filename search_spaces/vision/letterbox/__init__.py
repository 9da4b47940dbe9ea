"""letterbox, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.vision.letterbox.emit import emit
from autotune.codegen.vision.letterbox.filtered.schedule import FilteredSchedule
from autotune.codegen.vision.letterbox.presets import PRESETS
from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.schedule import LetterboxSchedule
from autotune.codegen.vision.letterbox.staged.schedule import StagedSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from . import filtered, staged
from .baselines import BASELINES
from .call import CALL
from .default import default
from .space import applies, candidates, checks, constraints, space

OPERATOR: Operator[LetterboxProblem, LetterboxSchedule | StagedSchedule | FilteredSchedule] = Operator(
    name="letterbox",
    summary="pictures of bytes, resized to fit into a target, as numbers of a network",
    problem_type=LetterboxProblem,
    kernels=(
        Kernel(LetterboxSchedule, emit, constraints, space, candidates, checks, applies=applies),
        staged.KERNEL,
        filtered.KERNEL,
    ),
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
