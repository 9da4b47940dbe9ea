"""radix_sort's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.inputs import DTYPES, Entropy
from autotune.codegen.sorting.radix_sort.block.schedule import BlockSchedule
from autotune.codegen.sorting.radix_sort.cluster.schedule import ClusterSchedule
from autotune.codegen.sorting.radix_sort.match import Advance, Match
from autotune.codegen.sorting.radix_sort.onesweep.schedule import OnesweepSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 14  # cases of three kernels

PROBLEMS = {
    **{f"columns16777216-{dtype}-keys": RadixSortProblem(1 << 24, 1, dtype) for dtype in DTYPES},
    **{f"columns1048576-int32-{one}": RadixSortProblem(1 << 20, 1, DType.INT32, one) for one in list(Values)[1:]},
    # Counts and indices of 8 bytes.
    "columns5000000000-uint8-index64-descending": RadixSortProblem(
        5 * 10**9, 1, DType.UINT8, Values.INDEX64, descending=True
    ),
    "columns151936-rows64-float32-index32-descending": RadixSortProblem(
        151936, 64, DType.FLOAT32, Values.INDEX32, descending=True
    ),
    "columns100-uint32-keys-beginbit3-endbit17": RadixSortProblem(100, 1, begin_bit=3, end_bit=17),
    "columns1000-uint64-keys-0.201": RadixSortProblem(1000, 1, DType.UINT64, entropy=Entropy.LOW),
    "columns1-uint32-keys": RadixSortProblem(1, 1),
    "columns0-rows5-float16-index64": RadixSortProblem(0, 5, DType.FLOAT16, Values.INDEX64),
    "columns5-rows0-uint8-bytes16": RadixSortProblem(5, 0, DType.UINT8, Values.BYTES16),
}
SMALL_PROBLEMS = (
    RadixSortProblem(1024, 1),
    RadixSortProblem(701, 3, DType.FLOAT32, Values.INDEX64, descending=True),
    RadixSortProblem(301, 2, DType.INT64, Values.BYTES16, begin_bit=27),
    RadixSortProblem(1025, 1, DType.BFLOAT16, Values.INDEX32, entropy=Entropy.NONE),
    RadixSortProblem(700, 1, DType.INT8, Values.BYTES1),
)
_LOOK_BACK = OnesweepSchedule(128, 4, 7, histogram_threads=128)
OWN_CASES = [
    # Passes without a digit that varies: all, some, and an odd number of those that do.
    (RadixSortProblem(1300, 1, DType.INT64, Values.INDEX64, entropy=Entropy.NONE), _LOOK_BACK),
    (RadixSortProblem(1025, 2, DType.UINT64, Values.BYTES4, entropy=Entropy.LOW), _LOOK_BACK.replace(digit_bits=4)),
    (RadixSortProblem(511, 1, DType.INT32, Values.INDEX32, begin_bit=2, end_bit=23), _LOOK_BACK),
    (RadixSortProblem(513, 3, DType.FLOAT64, Values.BYTES8), _LOOK_BACK.replace(match=Match.MATCH_ANY, window=8)),
    (RadixSortProblem(512, 1, DType.FLOAT16, descending=True), _LOOK_BACK.replace(advance=Advance.LOAD_STORE)),
    (RadixSortProblem(127, 4, DType.FLOAT32, Values.BYTES2, descending=True), BlockSchedule(64, 2, 5)),
    # Blocks of a cluster that have few keys of a row, or none.
    (RadixSortProblem(777, 2, DType.FLOAT32, Values.INDEX64), ClusterSchedule(64, 4, 6, cluster=4)),
    (RadixSortProblem(300, 1, DType.UINT64, Values.BYTES16, descending=True), ClusterSchedule(64, 2, 5, cluster=4)),
]
