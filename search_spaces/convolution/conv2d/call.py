"""How users call conv2d."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.convolution.call import convolution_call


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    residual: Any = None,
    scale: Any = None,
    *,
    stride: tuple[int, ...] | int = 1,
    padding: tuple[int, ...] | int = 0,
    dilation: tuple[int, ...] | int = 1,
    groups: int = 1,
    activation: str = "identity",
    dtype: DType | None = None,
    allow_tf32: bool = False,
    allow_winograd: int = 0,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    stream: Any = None,
) -> Any:
    """activation(alpha·scale·conv2d(x, weight) + bias) + beta·residual of channels-last images, accumulated in FP32.

    Sums of int8 are accumulated in INT32.

    As `torch.nn.functional.conv2d` computes it, a cross-correlation, with channels as the last axis. float32 is
    multiplied in FP32 unless `allow_tf32` is given. PyTorch's own call may take TF32, and Winograd's transforms, by
    default.

    Args:
        x: float32, bfloat16, float16 or int8, of shape (batch, height, width, channels), with contiguous channels and
            any strides of the other axes.
        weight: of the dtype of `x`, contiguous, of shape (filters, rows, columns, channels / groups).
        bias: of the dtype of the result (float32 with results of int8), contiguous, of shape (filters,).
        residual: of the shape, the dtype and the strides of the result. It may be `out`.
        scale: float32 factors of the sums of int8, one for each filter, contiguous, of shape (filters,): the scale of
            its weights times that of `x`.
        stride: rows and columns from one element of the result to the next; one number for both.
        padding: rows and columns of zeros on each side of an image; one number for both.
        dilation: rows and columns from a tap of a filter to the next; one number for both.
        groups: parts of the channels; filters of a part see its channels alone.
        activation: ``identity``, ``relu``, ``gelu``, ``gelu_tanh`` or ``silu``.
        dtype: of the result, of int8: int8, float16, bfloat16, float32 or, without an epilogue and a scale, int32,
            which is the default. Results of int8 are the nearest number, also for what is beyond its largest.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32).
        allow_winograd: side of the tiles of pixels, 2 or 4, that filters of 3×3 with a stride of 1 on float32 may
            compute by fewer products of transformed operands (Winograd), or 0. These round about 7 or 50 times as much
            at most, and spread what is not finite over a tile.
        out: the result, which overlaps nothing but `residual`: contiguous, or a part of the channels of a contiguous
            array. By default a new array of the library of `x`.
        alpha: the factor of the convolution; with 0 neither `x` nor `weight` counts.
        beta: the factor of `residual`; with 0 that is not read.

    Returns:
        The result, of shape (batch, out_height, out_width, filters).
    """


CALL = convolution_call(conv2d, Conv2dProblem, channels=3)
