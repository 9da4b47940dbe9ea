"""segmented_sort, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.sorting.segmented_sort.emit import emit
from autotune.codegen.sorting.segmented_sort.presets import PRESETS
from autotune.codegen.sorting.segmented_sort.problem import SegmentedSortProblem
from autotune.codegen.sorting.segmented_sort.schedule import SegmentedSortSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL

OPERATOR: Operator[SegmentedSortProblem, SegmentedSortSchedule] = Operator(
    name="segmented_sort",
    summary="the keys of each segment in order, with values that go along with them; offsets bound the segments",
    problem_type=SegmentedSortProblem,
    kernels=(Kernel(SegmentedSortSchedule, emit),),
    presets=PRESETS,
    baselines={
        "cub": "bench.baselines.sorting.cub:SEGMENTED_SORT",
        "cccl": "bench.baselines.sorting.cub:SEGMENTED_SORT_CCCL",
    },
    call=CALL,
)
