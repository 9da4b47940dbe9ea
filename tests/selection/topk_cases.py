"""topk's problems for the contract."""

from autotune.codegen.selection.topk.cluster.schedule import ClusterSchedule
from autotune.codegen.selection.topk.order import Order
from autotune.codegen.selection.topk.problem import DTYPES, INDEX_DTYPES, Pattern, TopkProblem
from autotune.codegen.selection.topk.stream.schedule import StreamSchedule
from autotune.codegen.selection.topk.warps.schedule import WarpsSchedule

MOST = 20  # cases of three kernels

FLOAT32, FLOAT16, BFLOAT16 = DTYPES
INT64, INT32 = INDEX_DTYPES
TIES, PIVOT = Pattern.TIE_HEAVY, Pattern.PIVOT_TIE

PROBLEMS = {
    "rows512-columns128256-k50-float32-sorted": TopkProblem(512, 128256, 50),
    "rows16384-columns256-k8-bfloat16-smallest-index-int32": TopkProblem(
        16384, 256, 8, BFLOAT16, False, Order.INDEX, INT32
    ),
    "rows64-columns131072-k2048-float32-sorted-pivot_tie": TopkProblem(64, 131072, 2048, pattern=PIVOT),
    "rows1-columns268435456-k256-float16-sorted": TopkProblem(1, 1 << 28, 256, FLOAT16),
    "rows100000000-columns3-k3-float32-sorted-lengths-ldx4": TopkProblem(10**8, 3, 3, lengths=True, ldx=4),
    "rows5-columns1-k1-float32-sorted": TopkProblem(5, 1, 1),
    "rows5-columns9-k0-float32-sorted": TopkProblem(5, 9, 0),
    "rows0-columns9-k2-float32-sorted": TopkProblem(0, 9, 2),
    "rows5-columns0-k0-float32-sorted-alignx4": TopkProblem(5, 0, 0, align_x=4),
}
SMALL_PROBLEMS = (
    TopkProblem(3, 256, 8),
    TopkProblem(4, 33, 33, BFLOAT16, False, Order.INDEX, INT32, ldx=37),
    TopkProblem(8, 300, 20, FLOAT16, lengths=True, ldx=304, align_x=4),
    TopkProblem(2, 1200, 130, order=Order.INDEX, lengths=True, pattern=TIES),
)
# Blocks that keep all, sample, or count digits; tickets; floors among equal elements; k of all, and of all but one.
ONCE, SHARED = StreamSchedule(128, 4, 2, 1, 1024, 1), StreamSchedule(128, 4, 1, 3, 1024, 1)
CLUSTER = ClusterSchedule(64, 4, 2, 64, 2)
OWN_CASES = [
    (TopkProblem(2, 5003, 50, ldx=5007), ONCE),
    (TopkProblem(2, 5000, 1000, pattern=PIVOT), ONCE),
    (TopkProblem(1, 5000, 700, BFLOAT16, False, pattern=TIES), ONCE.replace(samples=0, vector_width=8)),
    (TopkProblem(3, 4100, 64, FLOAT16, order=Order.INDEX, lengths=True, pattern=TIES), SHARED),
    (TopkProblem(1, 9000, 1024, lengths=True, index_dtype=INT32), SHARED),
    (TopkProblem(2, 1023, 1023), ONCE),
    (TopkProblem(2, 1025, 1024, order=Order.INDEX), ONCE),
    (TopkProblem(5, 250, 40, pattern=PIVOT), WarpsSchedule(64, 2, 4, 64)),
    (TopkProblem(5, 256, 256, order=Order.INDEX, lengths=True), WarpsSchedule(64, 4, 2, 256)),
    (TopkProblem(2, 1000, 64, pattern=PIVOT), CLUSTER),  # digits of columns
    (TopkProblem(3, 1001, 300, lengths=True, ldx=1005), CLUSTER.replace(candidates=512, cluster=4)),
    (TopkProblem(1, 700, 50, FLOAT16, False, Order.INDEX, lengths=True, pattern=TIES), CLUSTER),
]
