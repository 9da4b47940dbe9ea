"""argsort, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.sorting.radix_sort.presets import PRESETS
from autotune.codegen.sorting.radix_sort.problem import ArgsortProblem
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .default import KERNELS, default
from .sort_calls import ARGSORT

OPERATOR = Operator(
    name="argsort",
    summary="the indices of the elements of each row, in the order of these",
    problem_type=ArgsortProblem,
    kernels=KERNELS,
    default=default,
    presets=PRESETS,
    baselines=BASELINES,
    call=ARGSORT,
)
