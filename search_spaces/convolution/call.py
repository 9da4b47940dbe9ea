"""The calls of convolutions: they differ in their declarations, their problems and the axis of channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout

from .arguments import check_convolution, check_operands, extents_of, fields_of, out_extents


def convolution_call(declaration: Callable[..., Any], problem_type: type[Conv2dProblem], channels: int) -> Call:
    """The call of a convolution of images and filters, both with channels as this axis.

    A declaration without `allow_winograd` never allows Winograd's transforms.
    """
    return Call(
        declaration=declaration,
        inputs=("x", "weight", "bias", "residual"),
        outputs=("out",),
        types=partial(_types, channels),
        bind=partial(_bind, problem_type, channels),
        scalars=("alpha", "beta"),
        optional=("bias", "residual"),
        in_place=(("out", "residual"),),
    )


def _types(
    channels: int,
    /,
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
    allow_winograd: bool = False,
) -> Mapping[str, ArrayType]:
    check_convolution(
        x, weight, groups, activation, axis=channels, allow_tf32=allow_tf32, allow_winograd=allow_winograd
    )
    filters = weight.shape[0]
    taps = extents_of(weight, channels)
    extents = out_extents(extents_of(x, channels), taps, stride, padding, dilation)
    shape = (x.shape[0], *extents[: channels - 1], filters, *extents[channels - 1 :])
    check_operands(x, {"weight": (weight, weight.shape), "bias": (bias, (filters,)), "residual": (residual, shape)})
    return {"out": ArrayType(shape, x.dtype)}


def _bind(
    problem_type: type[Conv2dProblem],
    channels: int,
    /,
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
    allow_winograd: bool = False,
) -> Binding:
    taps = extents_of(weight, channels)
    problem = problem_type(
        **fields_of(x, channels, weight.shape[0], taps, stride=stride, padding=padding, dilation=dilation),
        groups=groups,
        dtype=DType(x.dtype),
        tf32=allow_tf32,
        bias=Bias.NONE if bias is None else Bias.ROW,
        activation=Activation(activation),
        residual=residual is not None,
        winograd=allow_winograd,
        align_d=out.alignment if residual is None else min(out.alignment, residual.alignment),
    )
    return Binding(problem, {"residual": "c", "out": "d"})
