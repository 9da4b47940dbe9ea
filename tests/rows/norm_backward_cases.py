"""norm_backward's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem

BF16, FP16 = DType.BFLOAT16, DType.FLOAT16

PROBLEMS = {
    "rows4096-columns4096-float32-layer": NormBackwardProblem(4096, 4096),
    "rows8192-columns513-bfloat16-rms-unbiased-float32weight-alignx2": NormBackwardProblem(
        8192, 513, BF16, centered=False, bias=False, float32_weight=True, align_x=2
    ),
    "rows1-columns1073741824-bfloat16-rms-unweighted-unbiased": NormBackwardProblem(
        1, 2**30, BF16, centered=False, weight=False, bias=False
    ),
    "rows5-columns33-float32-layer-unweighted-saved-ldx40-ldd48": NormBackwardProblem(
        5, 33, weight=False, saved=True, ldx=40, ldd=48
    ),
    "rows0-columns5-float16-layer-alignw4": NormBackwardProblem(0, 5, FP16, align_w=4),
}
SMALL_PROBLEMS = (
    NormBackwardProblem(16, 256),
    NormBackwardProblem(19, 131, BF16, centered=False, bias=False, saved=True, float32_weight=True, ldx=136),
)
