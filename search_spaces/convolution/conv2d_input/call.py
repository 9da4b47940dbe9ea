"""How users call conv2d_input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields
from autotune.search_spaces.convolution.arguments import check_images, fields_of, out_extents, pair


def conv2d_input(
    grad: Any,
    weight: Any,
    input_size: tuple[int, ...] | int,
    *,
    stride: tuple[int, ...] | int = 1,
    padding: tuple[int, ...] | int = 0,
    dilation: tuple[int, ...] | int = 1,
    allow_tf32: bool = False,
    out: Any = None,
    alpha: float = 1.0,
    stream: Any = None,
) -> Any:
    """The gradient of a `conv2d` without groups by its images, from the gradient of its result and its weight.

    As `torch.nn.grad.conv2d_input` computes it, with channels as the last axis. Sums over filters and taps are
    accumulated in FP32, in a fixed order: equal inputs give equal bits.

    Args:
        grad: float32, bfloat16 or float16, contiguous, of the shape of the result of the convolution: (batch,
            out_height, out_width, filters).
        weight: of the dtype of `grad`, contiguous, of shape (filters, rows, columns, channels).
        input_size: rows and columns of an image; one number for both.
        stride: rows and columns from one pixel of the result to the next; one number for both.
        padding: rows and columns of zeros on each side of an image; one number for both.
        dilation: rows and columns from a tap of a filter to the next; one number for both.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32).
        out: the result, which overlaps nothing, with contiguous channels and any strides of the other axes. By default
            a new array of the library of `grad`.
        alpha: the factor of the gradient; with 0 neither `grad` nor `weight` counts.

    Returns:
        The gradient, of the dtype of `grad` and of shape (batch, height, width, channels).
    """


def _types(
    grad: Layout,
    weight: Layout,
    input_size: tuple[int, ...] | int,
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
    allow_tf32: bool,
) -> Mapping[str, ArrayType]:
    check_images({"grad": grad, "weight": weight}, 1, allow_tf32=allow_tf32)
    image = pair("input_size", input_size, 1)
    filters, *kernel, channels = weight.shape
    expected = (grad.shape[0], *out_extents(image, kernel, stride, padding, dilation), filters)
    if (weight.dtype, grad.shape) != (grad.dtype, expected):
        raise ValueError(
            f"grad has shape {grad.shape} and weight dtype {weight.dtype}: expected {expected} and {grad.dtype}"
        )
    return {"out": ArrayType((grad.shape[0], *image, channels), grad.dtype)}


def _bind(
    grad: Layout,
    weight: Layout,
    out: Layout,
    input_size: tuple[int, ...] | int,
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
    allow_tf32: bool,
) -> Binding:
    problem = Conv2dInputProblem(
        **fields_of(out, 3, weight.shape[0], weight.shape[1:3], stride=stride, padding=padding, dilation=dilation),
        dtype=DType(grad.dtype),
        tf32=allow_tf32,
        **stride_fields("out", out, "x", Conv2dInputProblem.operands["x"]),
    )
    return Binding(problem, {"out": "d"})


CALL = Call(
    declaration=conv2d_input,
    inputs=("grad", "weight"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("alpha",),
)
