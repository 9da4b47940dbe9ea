"""How users call conv2d_weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.convolution.arguments import check_images, fields_of, out_extents, pair


def conv2d_weight(
    x: Any,
    grad: Any,
    kernel_size: tuple[int, ...] | int,
    *,
    stride: tuple[int, ...] | int = 1,
    padding: tuple[int, ...] | int = 0,
    dilation: tuple[int, ...] | int = 1,
    groups: int = 1,
    allow_tf32: bool = False,
    out: Any = None,
    alpha: float = 1.0,
    stream: Any = None,
) -> Any:
    """The gradient of a `conv2d` by its weight, from its images and the gradient of its result.

    As `torch.nn.grad.conv2d_weight` computes it, with channels as the last axis. Sums over all pixels are accumulated
    in FP32, in a fixed order: equal inputs give equal bits.

    Args:
        x: float32, bfloat16 or float16, of shape (batch, height, width, channels), with contiguous channels and any
            strides of the other axes.
        grad: of the dtype of `x`, contiguous, of the shape of the result of the convolution: (batch, out_height,
            out_width, filters).
        kernel_size: rows and columns of a filter; one number for both.
        stride: rows and columns from one pixel of the result to the next; one number for both.
        padding: rows and columns of zeros on each side of an image; one number for both.
        dilation: rows and columns from a tap of a filter to the next; one number for both.
        groups: parts of the channels; filters of a part see its channels alone.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32).
        out: the result, contiguous, which overlaps nothing. By default a new array of the library of `x`.
        alpha: the factor of the gradient; with 0 neither `x` nor `grad` counts.

    Returns:
        The gradient, of the dtype of `x` and of shape (filters, rows, columns, channels / groups).
    """


def _types(
    x: Layout,
    grad: Layout,
    kernel_size: tuple[int, ...] | int,
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
    groups: int,
    allow_tf32: bool,
) -> Mapping[str, ArrayType]:
    check_images({"x": x, "grad": grad}, groups, allow_tf32=allow_tf32)
    kernel = pair("kernel_size", kernel_size, 1)
    channels, filters = x.shape[3], grad.shape[3]
    if channels % groups or filters % groups:
        raise ValueError(
            f"x has shape {x.shape} and grad {grad.shape}: expected channels and filters that groups={groups} divides"
        )
    expected = (x.shape[0], *out_extents(x.shape[1:3], kernel, stride, padding, dilation), filters)
    if (grad.dtype, grad.shape) != (x.dtype, expected):
        raise ValueError(f"grad has dtype {grad.dtype} and shape {grad.shape}: expected {x.dtype} of shape {expected}")
    return {"out": ArrayType((filters, *kernel, channels // groups), x.dtype)}


def _bind(
    x: Layout,
    grad: Layout,
    kernel_size: tuple[int, ...] | int,
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
    groups: int,
    allow_tf32: bool,
) -> Binding:
    kernel = pair("kernel_size", kernel_size, 1)
    problem = Conv2dWeightProblem(
        **fields_of(x, 3, grad.shape[3], kernel, stride=stride, padding=padding, dilation=dilation),
        groups=groups,
        dtype=DType(x.dtype),
        tf32=allow_tf32,
    )
    return Binding(problem, {"out": "d"})


CALL = Call(
    declaration=conv2d_weight,
    inputs=("x", "grad"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("alpha",),
)
