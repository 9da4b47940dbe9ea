"""merge_sort's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.inputs import Entropy
from autotune.codegen.sorting.merge_sort.problem import MergeSortProblem
from autotune.codegen.sorting.merge_sort.schedule import MergeSortSchedule
from autotune.codegen.sorting.values import Values

MOST = 10
SMALL_PROBLEMS = (
    MergeSortProblem(1280, 1),
    MergeSortProblem(641, 2, DType.FLOAT32, Values.INDEX64, descending=True),
    MergeSortProblem(1700, 1, DType.BFLOAT16, Values.INDEX32, entropy=Entropy.NONE),
    MergeSortProblem(301, 2, DType.UINT64, Values.BYTES16),
)
_TILES = MergeSortSchedule(64, 5)
_AHEAD = _TILES.replace(block_levels=1)
OWN_CASES = [
    (MergeSortProblem(319, 3, DType.FLOAT64, Values.BYTES8), _TILES),  # nothing to merge
    (MergeSortProblem(1601, 2, DType.INT16, Values.BYTES4, descending=True), _AHEAD),  # a run without its like
    (MergeSortProblem(321, 2, DType.INT8, Values.BYTES1, entropy=Entropy.LOW), _TILES),
]
