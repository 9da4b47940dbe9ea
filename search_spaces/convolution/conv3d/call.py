"""How users call conv3d."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.convolution.conv3d.problem import Conv3dProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.convolution.arguments import check_convolution, check_operands, fields_of, out_extents


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


def _types(
    x: Layout,
    weight: Layout,
    bias: Layout | None,
    residual: Layout | None,
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
    groups: int,
    activation: str,
    allow_tf32: bool,
) -> Mapping[str, ArrayType]:
    check_convolution(x, weight, groups, activation, axis=4, allow_tf32=allow_tf32, allow_winograd=False)
    filters, *kernel, _ = weight.shape
    shape = (x.shape[0], *out_extents(x.shape[1:4], kernel, stride, padding, dilation), filters)
    check_operands(x, {"weight": (weight, weight.shape), "bias": (bias, (filters,)), "residual": (residual, shape)})
    return {"out": ArrayType(shape, x.dtype)}


def _bind(
    x: Layout,
    weight: Layout,
    bias: Layout | None,
    residual: Layout | None,
    out: Layout,
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
    groups: int,
    activation: str,
    allow_tf32: bool,
) -> Binding:
    problem = Conv3dProblem(
        **fields_of(x, 4, weight.shape[0], weight.shape[1:4], stride=stride, padding=padding, dilation=dilation),
        groups=groups,
        dtype=DType(x.dtype),
        tf32=allow_tf32,
        bias=Bias.NONE if bias is None else Bias.ROW,
        activation=Activation(activation),
        residual=residual is not None,
        align_d=out.alignment if residual is None else min(out.alignment, residual.alignment),
    )
    return Binding(problem, {"residual": "c", "out": "d"})


CALL = Call(
    declaration=conv3d,
    inputs=("x", "weight", "bias", "residual"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("alpha", "beta"),
    optional=("bias", "residual"),
    in_place=(("out", "residual"),),
)
