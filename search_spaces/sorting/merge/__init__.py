"""merge, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.sorting.merge.emit import emit
from autotune.codegen.sorting.merge.presets import PRESETS
from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.codegen.sorting.merge.schedule import MergeSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .space import candidates

OPERATOR: Operator[MergeProblem, MergeSchedule] = Operator(
    name="merge",
    summary="the keys of two sorted arrays in order, with values that go along with them",
    problem_type=MergeProblem,
    kernels=(Kernel(MergeSchedule, emit, candidates=candidates),),
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
