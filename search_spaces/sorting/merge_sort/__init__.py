"""merge_sort, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.sorting.merge_sort.emit import emit
from autotune.codegen.sorting.merge_sort.presets import PRESETS
from autotune.codegen.sorting.merge_sort.problem import MergeSortProblem
from autotune.codegen.sorting.merge_sort.schedule import MergeSortSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.sorting.radix_sort.baselines import BASELINES

from .call import CALL
from .space import candidates

OPERATOR: Operator[MergeSortProblem, MergeSortSchedule] = Operator(
    name="merge_sort",
    summary="the keys of each row in order by comparisons, with their indices or with values that go along with them",
    problem_type=MergeSortProblem,
    kernels=(Kernel(MergeSortSchedule, emit, candidates=candidates),),
    presets=PRESETS,
    baselines={
        "torch": BASELINES["torch"],
        "cub": "bench.baselines.sorting.cub:MERGE_SORT",
        "cccl": "bench.baselines.sorting.cub:MERGE_SORT_CCCL",
    },
    call=CALL,
)
