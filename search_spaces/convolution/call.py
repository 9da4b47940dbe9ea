"""The calls of convolutions: they differ in their declarations, their problems and the axis of channels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from inspect import signature
from typing import Any

from autotune.codegen.convolution.conv2d.problem import RESULTS, Conv2dProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout

from .arguments import check_convolution, check_operands, extents_of, fields_of, out_extents

_OPTIONAL = ("bias", "residual", "scale")


def convolution_call(declaration: Callable[..., Any], problem_type: type[Conv2dProblem], channels: int) -> Call:
    """The call of a convolution of images and filters, both with channels as this axis.

    A declaration without `allow_winograd` never allows Winograd's transforms, and one without `scale` and `dtype` takes
    no int8.
    """
    optional = tuple(name for name in _OPTIONAL if name in signature(declaration).parameters)
    return Call(
        declaration=declaration,
        inputs=("x", "weight", *optional),
        outputs=("out",),
        types=partial(_types, problem_type, channels),
        bind=partial(_bind, problem_type, channels),
        scalars=("alpha", "beta"),
        optional=optional,
        in_place=(("out", "residual"),),
    )


def _types(
    problem_type: type[Conv2dProblem],
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
    allow_winograd: int = 0,
    scale: Layout | None = None,
    dtype: str | None = None,
) -> Mapping[str, ArrayType]:
    check_convolution(
        *(x, weight, groups, activation),
        axis=channels,
        allow_tf32=allow_tf32,
        allow_winograd=allow_winograd,
        dtypes=field_specs(problem_type)["dtype"].allowed,
    )
    if scale is not None and x.dtype != DType.INT8:
        raise TypeError(f"scale is given for x of {x.dtype}: expected int8")
    filters = weight.shape[0]
    taps = extents_of(weight, channels)
    extents = out_extents(extents_of(x, channels), taps, stride, padding, dilation)
    shape = (x.shape[0], *extents[: channels - 1], filters, *extents[channels - 1 :])
    result = _result_of(x, dtype)
    check_operands(
        {
            "weight": (weight, x.dtype, weight.shape),
            "scale": (scale, DType.FLOAT32, (filters,)),
            "bias": (bias, result if DType(result).bits > 8 else DType.FLOAT32, (filters,)),
            "residual": (residual, result, shape),
        }
    )
    return {"out": ArrayType(shape, result)}


def _result_of(x: Layout, dtype: str | None) -> str:
    """The type of the result, as a call asks for it."""
    known = RESULTS if x.dtype == DType.INT8 else (x.dtype,)
    result = str(dtype or (DType.INT32 if x.dtype == DType.INT8 else x.dtype))
    if result not in known:
        raise TypeError(f"dtype={result} for x of {x.dtype}: expected {' or '.join(known)}")
    return result


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
    allow_winograd: int = 0,
    scale: Layout | None = None,
    dtype: str | None = None,
) -> Binding:
    taps = extents_of(weight, channels)
    problem = problem_type(
        **fields_of(x, channels, weight.shape[0], taps, stride=stride, padding=padding, dilation=dilation),
        groups=groups,
        dtype=DType(x.dtype),
        out_dtype=OutDType(out.dtype).beside(DType(x.dtype)),
        scaled=scale is not None,
        tf32=allow_tf32,
        bias=Bias.NONE if bias is None else Bias.ROW,
        activation=Activation(activation),
        residual=residual is not None,
        winograd=allow_winograd,
        align_d=out.alignment if residual is None else min(out.alignment, residual.alignment),
    )
    return Binding(problem, {"scale": "scale_b", "residual": "c", "out": "d"})
