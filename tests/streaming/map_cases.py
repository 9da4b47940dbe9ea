"""map's problems for the contract."""

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.streaming.map.arrays import DTYPES
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.search_spaces.machine.devices import named_device

SPEC = named_device("h200")
MOST = 16  # cases: there are ten functions
FP32, BF16, FP16 = DTYPES
GELU = Activation.GELU


PROBLEMS = {
    "rows4096-columns4096-gelu-float32": MapProblem(4096, 4096),
    "rows1-columns2147483649-gelu-bfloat16": MapProblem(1, 2**31 + 1, GELU, BF16),
    "rows8192-columns513-silu-bfloat16-alignx2-aligny2": MapProblem(
        8192, 513, Activation.SILU, BF16, align_x=2, align_y=2
    ),
    "rows16384-columns14336-silu-bfloat16-halves": MapProblem(16384, 14336, Activation.SILU, BF16, gate=Gate.HALVES),
    "rows5-columns33-relu-float32-bias-ldx40-ldy48": MapProblem(5, 33, Activation.RELU, bias=True, ldx=40, ldy=48),
    "rows1-columns1-tanh-float16": MapProblem(1, 1, Activation.TANH, FP16),
    "rows4096-columns4096-identity-bfloat16-float8_e4m3fn-saturate-scaled": MapProblem(
        4096, 4096, Activation.IDENTITY, BF16, OutDType.FLOAT8_E4M3, saturate=True, scaled=True
    ),
    "rows0-columns5-gelu-float32": MapProblem(0, 5),
    "rows5-columns0-exp-bfloat16": MapProblem(5, 0, Activation.EXP, BF16),
}
SMALL_PROBLEMS = (
    MapProblem(4, 512),
    MapProblem(3, 513, Activation.EXP, BF16, gate=Gate.HALVES, saturate=True, ldx=1040, ldy=520),
    MapProblem(7, 33, Activation.GELU_TANH, FP16, gate=Gate.SEPARATE, backward=True),
    MapProblem(5, 40, Activation.RELU, bias=True, residual=True, ldx=48, ldr=40, ldy=56),
)
