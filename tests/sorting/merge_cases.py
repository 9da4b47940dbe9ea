"""merge's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.inputs import Entropy
from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.codegen.sorting.merge.schedule import MergeSchedule, Partition
from autotune.codegen.sorting.values import Values

MOST = 10
SMALL_PROBLEMS = (
    MergeProblem(448, 448, DType.INT32),
    MergeProblem(301, 700, DType.FLOAT32, Values.BYTES8, descending=True),
    MergeProblem(1000, 3, DType.BFLOAT16, Values.BYTES2, entropy=Entropy.NONE),
    MergeProblem(9, 611, DType.INT64, Values.BYTES16),
)
_TILES = MergeSchedule(64, 5)
OWN_CASES = [
    (MergeProblem(0, 701, DType.FLOAT64), _TILES),
    (MergeProblem(500, 3, DType.UINT16), _TILES),
    (MergeProblem(320, 641, DType.FLOAT32, descending=True), _TILES.replace(partition=Partition.AHEAD)),
    (MergeProblem(640, 321, DType.UINT8, Values.BYTES4), _TILES),  # many equal keys
    (MergeProblem(333, 333, DType.FLOAT16, Values.BYTES1, entropy=Entropy.NONE), _TILES),
]
