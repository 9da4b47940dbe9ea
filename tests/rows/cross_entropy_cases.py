"""cross_entropy's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropySchedule
from autotune.codegen.rows.cross_entropy.split.schedule import LossSplitSchedule

BF16, FP16 = DType.BFLOAT16, DType.FLOAT16

PROBLEMS = {
    "rows512-columns128256-bfloat16": CrossEntropyProblem(512, 128256, BF16),
    "rows1024-columns66679-float32-lse-gradient": CrossEntropyProblem(1024, 66679, lse=True, gradient=True),
    "rows256-columns262144-float16-sharedgradient-gradient": CrossEntropyProblem(
        256, 262144, FP16, gradient=True, shared_gradient=True
    ),
    "rows5-columns33-float32-int32-smoothed-zloss-capped-ldx40-ldd48-lse-gradient": CrossEntropyProblem(
        5, 33, DType.FLOAT32, DType.INT32, True, True, True, ldx=40, ldd=48, lse=True, gradient=True
    ),
    "rows3-columns1-float32": CrossEntropyProblem(3, 1, align_d=4),
    "rows0-columns5-float32-gradient": CrossEntropyProblem(0, 5, gradient=True),
}
SMALL_PROBLEMS = (
    CrossEntropyProblem(16, 256, lse=True),
    CrossEntropyProblem(19, 521, BF16, DType.INT32, True, True, True, ldx=528, ldd=544, lse=True, gradient=True),
)

_BULK = CrossEntropySchedule.parse(
    ["threads=64", "TPR=64", "cluster=2", "vector_width=4", "hold=shared", "passes=online", "early=1", "bulk=1"]
)
# Whole vectors, rows that begin between them, and 25 vectors for four warps. Few problems drawn are long enough.
OWN_CASES = [
    *((CrossEntropyProblem(3, columns, lse=True, gradient=True), _BULK) for columns in (1044, 1045, 100)),
    *(
        (problem, LossSplitSchedule.parse(words.split()))
        for problem, words in (
            (CrossEntropyProblem(7, 1500, lse=True), "BPR=3 threads=128 vector_width=4 loads_in_flight=2"),
            (CrossEntropyProblem(7, 1001, BF16, gradient=True), "BPR=5 threads=32 vector_width=8 streaming=1"),
            (
                CrossEntropyProblem(9, 333, FP16, DType.INT32, True, True, True, ldx=335, lse=True, gradient=True),
                "BPR=2 threads=64 vector_width=2",
            ),
            (CrossEntropyProblem(5, 7, smoothed=True), "BPR=9 threads=32"),  # most pieces are empty
        )
    ),
]
