"""segmented_sort's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.indices import Spread
from autotune.codegen.sorting.inputs import Entropy
from autotune.codegen.sorting.segmented_sort.problem import SegmentedSortProblem
from autotune.codegen.sorting.segmented_sort.schedule import SegmentedSortSchedule
from autotune.codegen.sorting.values import Values

MOST = 10
SMALL_PROBLEMS = (
    SegmentedSortProblem(1280, 4),
    SegmentedSortProblem(1701, 30, DType.FLOAT32, Values.BYTES8, descending=True, offset_dtype=DType.INT32),
    SegmentedSortProblem(1301, 9, DType.BFLOAT16, Values.BYTES2, spread=Spread.LONG, entropy=Entropy.NONE),
    SegmentedSortProblem(601, 3, DType.INT64, Values.BYTES16),
)
_TILES = SegmentedSortSchedule(64, 5)
OWN_CASES = [
    (SegmentedSortProblem(1601, 1, DType.UINT8, Values.BYTES4), _TILES),  # one segment in six tiles
    (SegmentedSortProblem(961, 2, DType.UINT64, offset_dtype=DType.INT32), _TILES),
    (SegmentedSortProblem(1599, 7, DType.FLOAT16, Values.BYTES1, descending=True), _TILES),
    (SegmentedSortProblem(640, 900, DType.INT8, Values.BYTES2), _TILES),  # most are empty or of one key
]
