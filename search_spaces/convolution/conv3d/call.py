"""How users call conv3d."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv3d.problem import Conv3dProblem
from autotune.search_spaces.convolution.call import convolution_call


def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    residual: Any = None,
    *,
    stride: tuple[int, ...] | int = 1,
    padding: tuple[int, ...] | int = 0,
    dilation: tuple[int, ...] | int = 1,
    groups: int = 1,
    activation: str = "identity",
    allow_tf32: bool = False,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    stream: Any = None,
) -> Any:
    """activation(alpha·conv3d(x, weight) + bias) + beta·residual of channels-last images with a depth.

    As `torch.nn.functional.conv3d` computes it, with channels as the last axis; see `conv2d`.

    Args:
        x: float32, bfloat16 or float16, of shape (batch, depth, height, width, channels), with contiguous channels and
            any strides of the other axes.
        weight: of the dtype of `x`, contiguous, of shape (filters, slices, rows, columns, channels / groups).
        bias: of the dtype of `x`, contiguous, of shape (filters,).
        residual: of the shape, the dtype and the strides of the result. It may be `out`.
        stride: slices, rows and columns from one element of the result to the next; one number for all.
        padding: slices, rows and columns of zeros on each side of an image; one number for all.
        dilation: slices, rows and columns from a tap of a filter to the next; one number for all.
        groups: parts of the channels; filters of a part see its channels alone.
        activation: ``identity``, ``relu``, ``gelu``, ``gelu_tanh`` or ``silu``.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32).
        out: the result, which overlaps nothing but `residual`: contiguous, or a part of the channels of a contiguous
            array. By default a new array of the library of `x`.
        alpha: the factor of the convolution; with 0 neither `x` nor `weight` counts.
        beta: the factor of `residual`; with 0 that is not read.

    Returns:
        The result, of shape (batch, out_depth, out_height, out_width, filters).
    """


CALL = convolution_call(conv3d, Conv3dProblem, channels=4)
