"""sort, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.sorting.radix_sort.presets import PRESETS
from autotune.codegen.sorting.radix_sort.problem import SortProblem
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .default import KERNELS, default
from .sort_calls import SORT

OPERATOR = Operator(
    name="sort",
    summary="the elements of each row in order, and their indices",
    problem_type=SortProblem,
    kernels=KERNELS,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=SORT,
)
