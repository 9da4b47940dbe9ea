"""radix_sort, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.sorting.radix_sort.presets import PRESETS
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .default import KERNELS, default

OPERATOR = Operator(
    name="radix_sort",
    summary="the keys of each row in order, with their indices or with values that go along with them",
    problem_type=RadixSortProblem,
    kernels=KERNELS,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
