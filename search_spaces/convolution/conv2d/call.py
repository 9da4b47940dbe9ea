"""How users call conv2d."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.problem import DTYPES
from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout

_LEAST = {"stride": 1, "padding": 0, "dilation": 1}


def conv2d(
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
    allow_winograd: bool = False,
    out: Any = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    stream: Any = None,
) -> Any:
    """activation(alpha·conv2d(x, weight) + bias) + beta·residual of channels-last images, accumulated in FP32.

    As `torch.nn.functional.conv2d` computes it, a cross-correlation, with channels as the last axis. float32 is
    multiplied in FP32 unless `allow_tf32` is given. PyTorch's own call may take TF32, and Winograd's transforms, by
    default.

    Args:
        x: float32, bfloat16 or float16, of shape (batch, height, width, channels), with contiguous channels and any
            strides of the other axes.
        weight: of the dtype of `x`, contiguous, of shape (filters, rows, columns, channels / groups).
        bias: of the dtype of `x`, contiguous, of shape (filters,).
        residual: of the shape, the dtype and the strides of the result. It may be `out`.
        stride: rows and columns from one element of the result to the next; one number for both.
        padding: rows and columns of zeros on each side of an image; one number for both.
        dilation: rows and columns from a tap of a filter to the next; one number for both.
        groups: parts of the channels; filters of a part see its channels alone.
        activation: ``identity``, ``relu``, ``gelu``, ``gelu_tanh`` or ``silu``.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32).
        allow_winograd: whether filters of 3×3 with a stride of 1 on float32 may be computed by fewer products of
            transformed operands (Winograd). These round about seven times as much, and spread what is not finite over
            2×2 neighbouring pixels.
        out: the result, which overlaps nothing but `residual`: contiguous, or a part of the channels of a contiguous
            array. By default a new array of the library of `x`.
        alpha: the factor of the convolution; with 0 neither `x` nor `weight` counts.
        beta: the factor of `residual`; with 0 that is not read.

    Returns:
        The result, of shape (batch, out_height, out_width, filters).
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
    allow_winograd: bool,
) -> Mapping[str, ArrayType]:
    check_convolution(x, weight, groups, activation, axis=3, allow_tf32=allow_tf32, allow_winograd=allow_winograd)
    filters, *kernel, _ = weight.shape
    shape = (x.shape[0], *out_extents(x.shape[1:3], kernel, stride, padding, dilation), filters)
    check_operands(x, {"weight": (weight, weight.shape), "bias": (bias, (filters,)), "residual": (residual, shape)})
    return {"out": ArrayType(shape, x.dtype)}


def check_convolution(
    x: Layout, weight: Layout, groups: int, activation: str, *, axis: int, allow_tf32: bool, allow_winograd: bool
) -> None:
    """Raise `TypeError` or `ValueError` for what is not convolved; channels are an axis of images and filters."""
    if activation not in FUSED:
        raise ValueError(f"activation={activation!r}: expected one of {', '.join(FUSED)}")
    check_images({"x": x, "weight": weight}, groups, allow_tf32=allow_tf32, axes=max(4, axis + 1))
    if allow_winograd and (allow_tf32 or x.dtype != DType.FLOAT32):
        raise ValueError(f"allow_winograd=True: expected x of float32 without allow_tf32, not {x.dtype}")
    if weight.shape[axis] * groups != x.shape[axis] or weight.shape[0] % groups:
        raise ValueError(
            f"x has shape {x.shape} and weight {weight.shape}: expected channels and channels / groups along axis "
            f"{axis}, and filters along the first, with groups={groups}, which divides both"
        )


def check_operands(x: Layout, given: Mapping[str, tuple[Layout | None, tuple[int, ...]]]) -> None:
    """Raise `ValueError` for arrays that have not the dtype of the images, or not the shapes beside them."""
    for name, (array, expected) in given.items():
        if array is not None and (array.dtype, array.shape) != (x.dtype, expected):
            raise ValueError(
                f"{name} has dtype {array.dtype} and shape {array.shape}: expected {x.dtype} of shape {expected}"
            )


def check_images(arrays: Mapping[str, Layout], groups: int, *, allow_tf32: bool, axes: int = 4) -> None:
    """Raise `TypeError` or `ValueError` for images, the first of some arrays, that no kernel convolves."""
    x = next(iter(arrays.values()))
    if x.dtype not in DTYPES:
        raise TypeError(f"x has dtype {x.dtype}: expected one of {', '.join(DTYPES)}")
    if allow_tf32 and x.dtype != DType.FLOAT32:
        raise ValueError(f"allow_tf32=True: expected x of float32, not {x.dtype}")
    for name, layout in arrays.items():
        if len(layout.shape) != axes:
            raise ValueError(f"{name} has shape {layout.shape}: expected {axes} axes")
    if groups < 1:
        raise ValueError(f"groups={groups}: expected 1 or more")


def out_extents(
    extents: Sequence[int],
    kernel: Sequence[int],
    stride: tuple[int, ...] | int,
    padding: tuple[int, ...] | int,
    dilation: tuple[int, ...] | int,
) -> tuple[int, ...]:
    """Rows and columns of the result."""
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    steps = zip(*pairs_of(options, len(extents)).values(), strict=True)
    return tuple(
        (extent + 2 * added - step * (taps - 1) - 1) // apart + 1
        for extent, taps, (apart, added, step) in zip(extents, kernel, steps, strict=True)
    )


def fields_of(x: Layout, filters: int, kernel: Sequence[int], **steps: tuple[int, ...] | int) -> dict[str, Any]:
    """What problems have of images, filters, and the steps of a convolution."""
    pairs = pairs_of(steps) | {"kernel": tuple(kernel)}
    return {
        "batch": x.shape[0],
        "in_channels": x.shape[3],
        "out_channels": filters,
        "height": x.shape[1],
        "width": x.shape[2],
        **{f"{name}_{side}": number for name, two in pairs.items() for side, number in zip("hw", two, strict=True)},
    }


def pairs_of(options: Mapping[str, Any], count: int = 2) -> dict[str, tuple[int, ...]]:
    """Stride, padding and dilation of a call, of rows and of columns, or of slices ahead of them."""
    return {name: pair(name, options[name], least, count) for name, least in _LEAST.items()}


def pair(name: str, value: tuple[int, ...] | int, least: int, count: int = 2) -> tuple[int, ...]:
    """An option of rows and of columns, or of slices ahead of them."""
    some = (value,) if isinstance(value, int) else tuple(value)
    some = some * count if len(some) == 1 else some
    if len(some) != count or min(some) < least:
        raise ValueError(f"{name}={value}: expected one number or {('two', 'three')[count - 2]}, {least} or more")
    return some


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
    allow_winograd: bool,
) -> Binding:
    problem = Conv2dProblem(
        **fields_of(x, weight.shape[0], weight.shape[1:3], stride=stride, padding=padding, dilation=dilation),
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


CALL = Call(
    declaration=conv2d,
    inputs=("x", "weight", "bias", "residual"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("alpha", "beta"),
    optional=("bias", "residual"),
    in_place=(("out", "residual"),),
)
