"""gemv's problems for the contract."""

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule
from autotune.codegen.matmul.gemv.tensor_core.schedule import TensorCoreSchedule
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 32  # cases of two kernels
FP32, BF16, FP16, KN = DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, WeightOrder.KN
FP8, INT8, INT4 = Weights.FP8, Weights.INT8, Weights.INT4


PROBLEMS = {
    "n4096-k4096-m1-nk-float32-identity": GemvProblem(4096, 4096),
    "n4096-k14336-m16-nk-bfloat16-identity": GemvProblem(4096, 14336, 16, dtype=BF16),
    "n8192-k28672-m4-kn-float16-identity": GemvProblem(8192, 28672, 4, KN, FP16),
    "n152064-k8192-m1-nk-bfloat16-batch3-bias-silu": GemvProblem(
        152064, 8192, dtype=BF16, batch=3, bias=True, activation=Activation.SILU
    ),
    "n1073741824-k1-m2-kn-float32-identity": GemvProblem(2**30, 1, 2, KN),
    "n1-k1073741824-m1-nk-float16-identity": GemvProblem(1, 2**30, dtype=FP16),
    "n33-k40-m3-nk-bfloat16-batch2-bias-gelu-beta-ldx48-ldw41-aligny2": GemvProblem(
        33, 40, 3, dtype=BF16, batch=2, bias=True, activation=Activation.GELU, beta_nonzero=True,
        ldx=48, ldw=41, align_y=2,
    ),
    "n70-k33-m5-kn-float32-gelu_tanh-ldw72-alignw8": GemvProblem(
        70, 33, 5, KN, activation=Activation.GELU_TANH, ldw=72, align_w=8
    ),
    "n1-k1-m1-nk-float32-relu": GemvProblem(1, 1, activation=Activation.RELU),
    "n5-k0-m2-nk-bfloat16-bias-relu-beta": GemvProblem(
        5, 0, 2, dtype=BF16, bias=True, activation=Activation.RELU, beta_nonzero=True
    ),
    "n0-k7-m1-kn-float32-bias-identity": GemvProblem(0, 7, order=KN, bias=True),
    "n5-k7-m0-nk-float32-identity": GemvProblem(5, 7, 0),
    "n5-k7-m1-nk-float16-batch0-identity": GemvProblem(5, 7, dtype=FP16, batch=0),
    "n4096-k14336-m1-nk-bfloat16-identity-int4-group128-bfloat16-zeros": GemvProblem(
        4096, 14336, dtype=BF16, weights=INT4, group_size=128, scale_dtype=BF16, zeros=True
    ),
    "n8192-k28672-m16-nk-float16-identity-fp8-group128": GemvProblem(
        8192, 28672, 16, dtype=FP16, weights=FP8, group_size=128
    ),
    "n4096-k4096-m1-nk-float32-identity-int8": GemvProblem(4096, 4096, weights=INT8),
    "n9-k77-m3-nk-float32-batch2-bias-relu-beta-int4-group32-float16": GemvProblem(
        9, 77, 3, batch=2, bias=True, activation=Activation.RELU, beta_nonzero=True,
        weights=INT4, group_size=32, scale_dtype=FP16,
    ),
    "n5-k0-m2-nk-bfloat16-identity-int4-group64-zeros": GemvProblem(
        5, 0, 2, dtype=BF16, weights=INT4, group_size=64, zeros=True
    ),
    "n65536-k1024-m8-nk-float32-identity-tx-ty": GemvProblem(65536, 1024, 8, transpose_x=True, transpose_y=True),
    "n33-k40-m3-kn-bfloat16-batch2-identity-beta-tx-ldx5-ldy36": GemvProblem(
        33, 40, 3, KN, BF16, batch=2, beta_nonzero=True, transpose_x=True, ldx=5, ldy=36
    ),
    "n0-k7-m1-nk-float32-identity-int8": GemvProblem(0, 7, weights=INT8),
}  # fmt: skip
SMALL_PROBLEMS = (
    GemvProblem(64, 512),
    GemvProblem(67, 264, 3, dtype=BF16, bias=True, activation=Activation.RELU),
    GemvProblem(72, 131, 2, KN, FP16, ldw=80),
    GemvProblem(67, 201, 2, dtype=BF16, weights=INT4, group_size=64, scale_dtype=BF16, zeros=True),
    GemvProblem(130, 133, 5, dtype=FP16, weights=FP8, group_size=128, scale_dtype=FP16),
    GemvProblem(33, 96, batch=2, weights=INT8, group_size=32, scale_dtype=FP16, stride_w=3200),
    GemvProblem(35, 133, 4, batch=2, bias=True, beta_nonzero=True),
)


def scheduled(words: str) -> GemvSchedule:
    """The default schedule of fma, or of tensor_core after ``kernel=tensor_core``, changed by words."""
    kind = TensorCoreSchedule if "kernel=tensor_core" in words else FmaSchedule
    return kind.parse(words.split())
