"""reduce's problems for the contract."""

from dataclasses import replace

from autotune.codegen.model.indices import Spread
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import DTYPES, Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
SUM, MEAN, L2, DOT, DIST, MAX, MIN, ARGMAX, ARGMIN = Operation
ALL, LAST, FIRST, SEGMENTS = Axis
FLOAT32, FLOAT16, BFLOAT16, INT32 = DTYPES
MOST = 24  # cases: operations and axes have kernels of their own

PROBLEMS = {
    **{f"rows1-columns16777216-{op}-all-float32": ReduceProblem(4096, 4096, op, ALL) for op in (SUM, MAX, ARGMAX)},
    **{f"rows4096-columns4096-{op}-last-float32": ReduceProblem(4096, 4096, op) for op in Operation},
    **{f"rows4096-columns4096-{op}-first-float32": ReduceProblem(4096, 4096, op, FIRST) for op in (SUM, ARGMIN)},
    "rows16384-columns8192-sum-last-bfloat16": ReduceProblem(16384, 8192, dtype=BFLOAT16),
    "rows8192-columns513-argmax-last-bfloat16": ReduceProblem(8192, 513, ARGMAX, dtype=BFLOAT16),
    "rows8192-columns513-sum-first-int32": ReduceProblem(8192, 513, SUM, FIRST, INT32),
    "rows1-columns16777216-dot-all-bfloat16": ReduceProblem(1, 1 << 24, DOT, ALL, BFLOAT16),
    "rows4096-columns4096-dist-last-float32-ldx4100": ReduceProblem(4096, 4096, DIST, ldx=4100),
    "rows1-columns5000000000-argmax-all-float16": ReduceProblem(1, 5 * 10**9, ARGMAX, ALL, FLOAT16),
    "rows5000000000-columns3-argmax-first-float16": ReduceProblem(5 * 10**9, 3, ARGMAX, FIRST, FLOAT16),
    "rows1-columns2147483649-mean-all-float16": ReduceProblem(1, 2**31 + 1, MEAN, ALL, FLOAT16),
    "rows1-columns2147483649-sum-segments-float16-segments5": ReduceProblem(
        1, 2**31 + 1, SUM, SEGMENTS, FLOAT16, segments=5
    ),
    "rows3-columns1000000000-max-last-int32": ReduceProblem(3, 10**9, MAX, LAST, INT32),
    "rows100000000-columns3-max-last-int32-ldx4": ReduceProblem(10**8, 3, MAX, LAST, INT32, ldx=4),
    "rows300-columns70-sum-last-float32-ldx72-alignx8": ReduceProblem(300, 70, ldx=72, align_x=8),
    "rows1-columns70-sum-first-float32": ReduceProblem(1, 70, SUM, FIRST),
    "rows70-columns1-max-first-float32": ReduceProblem(70, 1, MAX, FIRST),
    "rows1-columns1-argmax-all-float32": ReduceProblem(1, 1, ARGMAX, ALL),
    "rows1-columns1-dist-all-float32": ReduceProblem(1, 1, DIST, ALL),
    "rows1-columns0-dot-all-float16": ReduceProblem(1, 0, DOT, ALL, FLOAT16),
    "rows1-columns0-sum-all-bfloat16": ReduceProblem(0, 7, SUM, ALL, BFLOAT16),
    "rows5-columns0-sum-last-int32": ReduceProblem(5, 0, SUM, LAST, INT32),
    "rows5-columns0-mean-last-float16": ReduceProblem(5, 0, MEAN, LAST, FLOAT16),
    "rows1-columns16777216-sum-segments-float32-segments4096": ReduceProblem(1, 1 << 24, axis=SEGMENTS, segments=4096),
    "rows1-columns5003-argmin-segments-bfloat16-segments7-int32": ReduceProblem(
        1, 5003, ARGMIN, SEGMENTS, BFLOAT16, segments=7, offset_dtype=INT32
    ),
    "rows1-columns5003-max-segments-int32-segments7-even": ReduceProblem(
        1, 5003, MAX, SEGMENTS, INT32, segments=7, spread=Spread.EVEN
    ),
    "rows1-columns0-max-segments-int32-segments3": ReduceProblem(1, 0, MAX, SEGMENTS, INT32, segments=3),
    "rows0-columns5-l2-first-float32": ReduceProblem(0, 5, L2, FIRST),
    "rows0-columns5-max-last-float32": ReduceProblem(0, 5, MAX),
    "rows0-columns5-sum-first-float32": ReduceProblem(0, 5, SUM, FIRST),
    "rows5-columns0-argmax-first-float32": ReduceProblem(5, 0, ARGMAX, FIRST),
}
SMALL_PROBLEMS = (
    ReduceProblem(64, 1024),
    ReduceProblem(67, 131, ARGMAX, LAST, INT32, ldx=136),
    ReduceProblem(67, 131, SUM, LAST, INT32),
    ReduceProblem(1, 5003, SUM, ALL, FLOAT16),
    ReduceProblem(1, 5003, ARGMAX, ALL, BFLOAT16),
    ReduceProblem(1, 5003, DOT, ALL, FLOAT16),
    ReduceProblem(67, 131, DIST, LAST, FLOAT32, ldx=133),
    ReduceProblem(1, 5003, MEAN, SEGMENTS, FLOAT16, segments=19),
    ReduceProblem(1, 5003, MIN, SEGMENTS, FLOAT32, segments=67, offset_dtype=INT32, spread=Spread.LONG),
    ReduceProblem(67, 131, MEAN, LAST, BFLOAT16, ldx=133),
    ReduceProblem(1, 5003, L2, ALL, FLOAT16),
    ReduceProblem(131, 67, MIN, FIRST, FLOAT16),
    ReduceProblem(131, 67, ARGMIN, FIRST, INT32),
    ReduceProblem(131, 68, SUM, FIRST, BFLOAT16, ldx=72, align_x=4),
)
# Rows that are folded to longer ones, which few shapes are.
FOLDED = ReduceSchedule.parse(["threads=128", "TPR=8", "vector_width=8", "loads_in_flight=2", "splits=3", "folded=1"])
OWN_CASES = [
    (ReduceProblem(1003, 67, SUM, FIRST, FLOAT16), FOLDED),
    (ReduceProblem(1001, 33, MIN, FIRST, FLOAT32), replace(FOLDED, vector_width=4)),
    (ReduceProblem(519, 3, MEAN, FIRST, BFLOAT16), replace(FOLDED, splits=2)),
    # Segments that blocks share, each with a counter of its own.
    (
        ReduceProblem(1, 3001, MAX, SEGMENTS, FLOAT32, segments=3),
        ReduceSchedule.parse(["threads=128", "TPR=128", "vector_width=1", "loads_in_flight=2", "splits=2"]),
    ),
]
