"""cross_entropy_backward's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem

BF16, FP16 = DType.BFLOAT16, DType.FLOAT16

PROBLEMS = {
    "rows512-columns128256-bfloat16": CrossEntropyBackwardProblem(512, 128256, BF16),
    "rows3-columns66679-float32-sharedgradient-ldx66680": CrossEntropyBackwardProblem(
        3, 66679, shared_gradient=True, ldx=66680
    ),
    "rows5-columns33-float16-int32-smoothed-zloss-capped-alignx4": CrossEntropyBackwardProblem(
        5, 33, FP16, DType.INT32, True, True, True, align_x=4
    ),
    "rows0-columns5-float32": CrossEntropyBackwardProblem(0, 5),
}
SMALL_PROBLEMS = (
    CrossEntropyBackwardProblem(16, 256),
    CrossEntropyBackwardProblem(19, 521, BF16, DType.INT32, True, True, True, ldx=528, ldd=544),
)
