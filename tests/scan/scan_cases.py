"""scan's problems for the contract."""

from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import DTYPES, ScanProblem
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 20  # cases of four kernels
SUM, PRODUCT, MAX, MIN = Operation
FLOAT32, FLOAT16, BFLOAT16, FLOAT64, INT32, INT64 = DTYPES

PROBLEMS = {
    **{f"rows1-columns16777216-{op}-float32": ScanProblem(1, 1 << 24, op) for op in Operation},
    **{f"rows4096-columns4096-sum-{dtype}": ScanProblem(4096, 4096, dtype=dtype) for dtype in DTYPES},
    "rows1-columns5000000000-sum-float16-exclusive-reverse": ScanProblem(
        1, 5 * 10**9, SUM, FLOAT16, exclusive=True, reverse=True
    ),
    "rows1-columns16777216-sum-int32-wide": ScanProblem(1, 1 << 24, dtype=INT32, wide=True),
    "rows1-columns16777216-max-int64-flags-alignflags1": ScanProblem(1, 1 << 24, MAX, INT64, flags=True, align_flags=1),
    "rows1-columns16777216-sum-float32-offsets-segments100000": ScanProblem(1, 1 << 24, offsets=True, segments=100000),
    "rows3-columns1000000000-min-bfloat16": ScanProblem(3, 10**9, MIN, BFLOAT16),
    "rows100000000-columns3-product-float32-ldx4-ldy8": ScanProblem(10**8, 3, PRODUCT, ldx=4, ldy=8),
    "rows300-columns70-sum-float16-ldx72-alignx4": ScanProblem(300, 70, SUM, FLOAT16, ldx=72, align_x=4),
    "rows1-columns16777216-product-int32-wide-reverse-init": ScanProblem(
        1, 1 << 24, PRODUCT, INT32, True, reverse=True, init=True
    ),
    "rows1-columns1-sum-float32": ScanProblem(1, 1),
    "rows1-columns0-sum-int64-offsets-segments1": ScanProblem(1, 0, SUM, INT64, offsets=True, segments=1),
    "rows0-columns5-max-float32": ScanProblem(0, 5, MAX),
    "rows5-columns0-sum-float32": ScanProblem(5, 0),
}
SMALL_PROBLEMS = (
    ScanProblem(4, 1024),
    ScanProblem(1, 2503, SUM, INT32, wide=True, reverse=True),
    ScanProblem(1, 1203, SUM, FLOAT16, exclusive=True, flags=True, init=True),
    ScanProblem(1, 1203, MAX, INT32, reverse=True, offsets=True, segments=31),
    ScanProblem(7, 300, SUM, FLOAT32, reverse=True, ldx=304, ldy=304, align_x=8),
)
