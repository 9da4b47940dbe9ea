"""causal_conv1d's small problems; all else is derived."""

from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.model.dtype import DType

SMALL_PROBLEMS = (
    CausalConv1dProblem(8, 64),
    CausalConv1dProblem(
        5, 37, 2, bias=True, activation=Activation.SILU, initial=True, final=True, ldx=40, stride_x=208, align_x=2
    ),
    CausalConv1dProblem(12, 9, 2, channels_last=True, bias=True, final=True, ldy=16),
    CausalConv1dProblem(6, 23, 2, 3, channels_last=True, numbered=True, activation=Activation.GELU, ldx=8),
    CausalConv1dProblem(5, 3, 2, 7, DType.FLOAT32, initial=True, final=True),
    CausalConv1dProblem(3, 43, 2, bias=True, initial=True, final=True),
)
MOST = 8
