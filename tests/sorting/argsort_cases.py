"""argsort's cases for the contract, fewer, as radix_sort has the same kernels, and small keys."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.radix_sort.problem import ArgsortProblem
from autotune.codegen.sorting.values import Values

SMALL_PROBLEMS = (
    ArgsortProblem(256, 1, DType.BFLOAT16),
    ArgsortProblem(301, 2, DType.UINT8, Values.INDEX32, descending=True),
)
MOST = 12
