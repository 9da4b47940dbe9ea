"""softmax_backward's problems for the contract."""

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
BF16, FP16 = DType.BFLOAT16, DType.FLOAT16

PROBLEMS = {
    "rows4096-columns4096-float32": SoftmaxBackwardProblem(4096, 4096),
    "rows8192-columns513-bfloat16-log-alignx2": SoftmaxBackwardProblem(8192, 513, BF16, log=True, align_x=2),
    "rows1-columns1073741824-bfloat16": SoftmaxBackwardProblem(1, 2**30, BF16),
    "rows5-columns33-float32-ldx40-ldd48": SoftmaxBackwardProblem(5, 33, ldx=40, ldd=48),
    "rows0-columns5-float16-log": SoftmaxBackwardProblem(0, 5, FP16, log=True),
}
SMALL_PROBLEMS = (
    SoftmaxBackwardProblem(16, 256, log=True),
    SoftmaxBackwardProblem(19, 131, BF16, ldx=136),
)
