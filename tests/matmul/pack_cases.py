"""pack's problems for the contract."""

from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
FP32, BF16, FP16 = DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16
FP8, INT8 = Weights.FP8, Weights.INT8


PROBLEMS = {
    "n4096-k14336-bfloat16-int4-group128-bfloat16-zeros": PackProblem(4096, 14336, zeros=True),
    "n8192-k28672-float16-int8-group0-float16": PackProblem(8192, 28672, FP16, INT8, group_size=0, scale_dtype=FP16),
    "n1000-k1000-float32-fp8-group128-float32": PackProblem(1000, 1000, FP32, FP8, scale_dtype=FP32),
    "n3-k1073741824-bfloat16-fp8-group0-bfloat16": PackProblem(3, 2**30, weights=FP8, group_size=0),
    "n33-k41-float32-int4-group32-bfloat16-ldw43-alignw4-ldq24-alignq1": PackProblem(
        33, 41, FP32, group_size=32, ldw=43, align_w=4, ldq=24, align_q=1
    ),
    "n1-k1-bfloat16-int4-group64-bfloat16": PackProblem(1, 1, group_size=64),
    "n5-k0-bfloat16-int8-group0-bfloat16": PackProblem(5, 0, weights=INT8, group_size=0),
    "n0-k7-bfloat16-int4-group128-bfloat16": PackProblem(0, 7),
}
SMALL_PROBLEMS = (
    PackProblem(16, 256, zeros=True),
    PackProblem(23, 299, FP16, INT8, group_size=0, scale_dtype=FP16, ldw=304, ldq=300),
    PackProblem(131, 140, FP32, FP8, scale_dtype=FP32),
)
