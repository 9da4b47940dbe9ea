"""sort's cases for the contract, fewer, as radix_sort has the same kernels, and small keys."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.radix_sort.cluster.schedule import ClusterSchedule
from autotune.codegen.sorting.radix_sort.problem import SortProblem
from autotune.codegen.sorting.values import Values

SMALL_PROBLEMS = (
    SortProblem(256, 1, DType.FLOAT16),
    SortProblem(301, 2, DType.INT8, Values.INDEX32, descending=True),
)
MOST = 12
OWN_CASES = [(SortProblem(150, 1, DType.INT32), ClusterSchedule(64, 2, 4, cluster=2))]
