"""layer_norm's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.norm.problem import LayerNormProblem
from autotune.codegen.rows.norm.split.schedule import NormSplitSchedule

BF16, FP16 = DType.BFLOAT16, DType.FLOAT16

PROBLEMS = {
    "rows4096-columns4096-float32": LayerNormProblem(4096, 4096),
    "rows8192-columns513-bfloat16-float32weight-statistics-alignx2-aligny2": LayerNormProblem(
        8192, 513, BF16, float32_weight=True, statistics=True, align_x=2, align_y=2
    ),
    "rows2048-columns8192-bfloat16-residual": LayerNormProblem(2048, 8192, BF16, residual=True),
    "rows1-columns1073741824-bfloat16-unweighted-unbiased": LayerNormProblem(1, 2**30, BF16, weight=False, bias=False),
    "rows5-columns33-float32-ldx40-ldy48-alignw4": LayerNormProblem(5, 33, ldx=40, ldy=48, align_w=4),
    "rows0-columns5-float32": LayerNormProblem(0, 5),
}
SMALL_PROBLEMS = (
    LayerNormProblem(16, 256),
    LayerNormProblem(19, 521, BF16, float32_weight=True, residual=True, statistics=True, ldx=528, ldy=544),
)

OWN_CASES = [
    (problem, NormSplitSchedule.parse(words.split()))
    for problem, words in (
        (LayerNormProblem(3, 1500, statistics=True), "BPR=3 threads=128 vector_width=4 loads_in_flight=2"),
        (LayerNormProblem(11, 1001, BF16, float32_weight=True), "BPR=5 threads=32 vector_width=8 streaming=1"),
        (
            LayerNormProblem(5, 333, FP16, bias=False, statistics=True, ldx=335, ldy=337),
            "BPR=2 threads=64 vector_width=2",
        ),
        (LayerNormProblem(4, 301, align_x=4, align_y=4), "BPR=4 threads=32 vector_width=4 specialize=shape"),
        (LayerNormProblem(2, 7, weight=False, bias=False), "BPR=9 threads=32"),  # most pieces are empty
    )
]
