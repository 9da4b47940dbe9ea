"""How users call conv2d_planes."""

from __future__ import annotations

from typing import Any

from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.search_spaces.convolution.call import convolution_call


def conv2d_planes(
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
    allow_winograd: int = 0,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    stream: Any = None,
) -> Any:
    """activation(alpha·conv2d(x, weight) + bias) + beta·residual of images whose channels are planes (NCHW).

    As `conv2d`, whose kernels it takes between transposes of its arrays: these read and write images, filters and the
    result once more.

    Args:
        x: float32, bfloat16 or float16, contiguous, of shape (batch, channels, height, width).
        weight: of the dtype of `x`, contiguous, of shape (filters, channels / groups, rows, columns).
        bias: of the dtype of `x`, contiguous, of shape (filters,).
        residual: of the shape and the dtype of the result, contiguous. It may be `out`.
        stride: rows and columns from one element of the result to the next; one number for both.
        padding: rows and columns of zeros on each side of an image; one number for both.
        dilation: rows and columns from a tap of a filter to the next; one number for both.
        groups: parts of the channels; filters of a part see its channels alone.
        activation: ``identity``, ``relu``, ``gelu``, ``gelu_tanh`` or ``silu``.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32).
        allow_winograd: side of the tiles, 2 or 4, of which Winograd's transforms may be taken, as of `conv2d`.
        out: the result, contiguous, which overlaps nothing but `residual`. By default a new array of the library of
            `x`.
        alpha: the factor of the convolution; with 0 neither `x` nor `weight` counts.
        beta: the factor of `residual`; with 0 that is not read.

    Returns:
        The result, of shape (batch, filters, out_height, out_width).
    """


CALL = convolution_call(conv2d_planes, Conv2dPlanesProblem, channels=1)
