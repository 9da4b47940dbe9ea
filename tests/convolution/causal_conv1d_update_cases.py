"""causal_conv1d_update's small problems; all else is derived."""

from autotune.codegen.convolution.causal_conv1d_update.problem import CausalConv1dUpdateProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.model.dtype import DType

SMALL_PROBLEMS = (
    CausalConv1dUpdateProblem(8, 32, 9),
    CausalConv1dUpdateProblem(
        17, 5, 30, 3, indexed=True, bias=True, activation=Activation.SILU, stride_x_c=5, stride_y_r=32,
        stride_states_c=4, align_states=2,
    ),
    CausalConv1dUpdateProblem(3, 7, 3, 2, 7, DType.FLOAT32),
)  # fmt: skip
MOST = 6
