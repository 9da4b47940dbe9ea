"""PyTorch's convolutions of images and sequences by conv2d, of volumes by conv3d, and the layers made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .autocast import autocast
from .convolution_node import Convolution, computed, packed
from .eager import apply, examined
from .operators import functions


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    residual: Any = None,
    activation: str = "identity",
    scale: Any = None,
    dtype: Any = None,
    allow_tf32: bool = False,
    allow_winograd: int = 0,
) -> Any:
    """``torch.nn.functional.conv2d``, and activation and residual fused to it, by the operator conv2d.

    Tensors in the memory format channels_last are read where they are. Others, the weight included, are copied to it
    first. The result is channels_last. Gradients are deterministic.

    Args:
        input: float32, bfloat16, float16 or int8, of shape (batch, channels, height, width), or one image without a
            batch.
        weight: of the dtype of `input`, of shape (filters, channels / groups, rows, columns).
        bias: of the dtype of the result (float32 with results of int8), of shape (filters,).
        stride: rows and columns from one element of the result to the next; one number for both.
        padding: rows and columns of zeros on each side of an image; or ``valid``, or ``same`` with a stride of 1.
        dilation: rows and columns from a tap of a filter to the next.
        groups: parts of the channels; filters of a part see its channels alone.
        residual: added behind the activation, of the shape and the dtype of the result.
        activation: ``identity``, ``relu``, ``gelu``, ``gelu_tanh`` or ``silu``.
        scale, dtype: float32 factors of the sums of int8, one for each filter, and the type of their result; see
            ``dispatcher.conv2d``.
        allow_tf32: whether elements of float32 may keep 10 bits of their fraction (TF32).
        allow_winograd: side of the tiles of pixels, 2 or 4, for which filters of 3×3 on float32 may take Winograd's
            transforms; see ``dispatcher.conv2d``.

    Returns:
        activation(conv2d(input, weight) + bias) + residual, of int8 activation(scale·conv2d(input, weight) + bias) +
        residual.

    Raises:
        TypeError, ValueError: see ``dispatcher.conv2d``; or `padding` is a word that is not known.
    """
    options = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "activation": activation,
        "dtype": dtype,
        "allow_tf32": allow_tf32,
        "allow_winograd": allow_winograd,
    }
    return _convolved("conv2d", options, input, weight, bias, residual, scale)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    residual: Any = None,
    activation: str = "identity",
    allow_tf32: bool = False,
) -> Any:
    """``torch.nn.functional.conv3d``, and activation and residual fused to it, by the operator conv3d.

    Tensors in the memory format channels_last_3d are read where they are. Others, the weight included, are copied to it
    first. The result is channels_last_3d. Gradients are deterministic.

    Args:
        input: float32, bfloat16 or float16, of shape (batch, channels, depth, height, width), or one without a batch.
        weight: of the dtype of `input`, of shape (filters, channels / groups, slices, rows, columns).
        bias, groups, activation, allow_tf32: see `conv2d`.
        stride, padding, dilation: see `conv2d`, of slices, rows and columns.
        residual: added behind the activation, of the shape and the dtype of the result.

    Returns:
        activation(conv3d(input, weight) + bias) + residual.

    Raises:
        TypeError, ValueError: see ``dispatcher.conv3d``; or `padding` is a word that is not known.
    """
    options = {
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "groups": groups,
        "activation": activation,
        "allow_tf32": allow_tf32,
    }
    return _convolved("conv3d", options, input, weight, bias, residual)


def _convolved(
    operator: str, options: dict[str, Any], input: Any, weight: Any, bias: Any, residual: Any, *scale: Any
) -> Any:
    """The result of an operator on tensors with channels as the second axis, or as the first one without a batch."""
    if input.ndim == weight.ndim - 1:
        batch = None if residual is None else residual[None]
        return _convolved(operator, options, input[None], weight, bias, batch, *scale)[0]
    if isinstance(padding := options["padding"], str):
        input, options["padding"] = _padded(input, weight, options["stride"], padding, options["dilation"])
    before = None if residual is None else packed(residual)
    tensors = input if input.stride(1) == 1 else packed(input), packed(weight), bias, before, *scale
    plain, recorded = examined(tensors)
    if plain:
        return apply(Convolution, operator, options, *tensors) if recorded else computed[operator](*tensors, **options)
    views = (tensor if tensor is None or tensor.ndim == 1 else tensor.movedim(1, -1) for tensor in tensors)
    return functions[operator](*views, **options).movedim(-1, 1)


def _padded(input: Any, weight: Any, stride: Any, padding: str, dilation: Any) -> tuple[Any, tuple[int, ...]]:
    """The input and the padding on each side; where ``same`` takes an odd number of zeros, the input has one more."""
    sides = weight.ndim - 2
    if padding == "valid":
        return input, (0,) * sides
    if padding != "same" or set(_of_sides(stride, sides)) != {1}:
        raise ValueError(f"padding={padding!r}, stride={stride}: expected numbers, valid, or same with a stride of 1")
    totals = [step * (taps - 1) for step, taps in zip(_of_sides(dilation, sides), weight.shape[2:], strict=True)]
    if any(total % 2 for total in totals):
        input = torch.nn.functional.pad(input, [zeros for total in reversed(totals) for zeros in (0, total % 2)])
    return input, tuple(total // 2 for total in totals)


def _of_sides(value: Any, sides: int) -> tuple[int, ...]:
    return (value,) * sides if isinstance(value, int) else tuple(value)


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    *,
    residual: Any = None,
    activation: str = "identity",
    allow_tf32: bool = False,
) -> Any:
    """``torch.nn.functional.conv1d``, and activation and residual fused to it: `conv2d` of images of one row.

    Args:
        input: of shape (batch, channels, length), or one sequence without a batch. Where the channels of a step are
            neighbours in memory, as in ``steps.mT`` of steps (batch, length, channels), it is read where it is.
        weight: of the dtype of `input`, of shape (filters, channels / groups, width).
        bias, groups, activation, allow_tf32: see `conv2d`.
        stride: steps from one element of the result to the next.
        padding: zeros on both sides; or ``valid``, or ``same`` with a stride of 1.
        dilation: steps from a tap of a filter to the next.
        residual: added behind the activation, of the shape and the dtype of the result.

    Returns:
        activation(conv1d(input, weight) + bias) + residual, whose channels are neighbours in memory.

    Raises:
        TypeError, ValueError: see `conv2d`.
    """
    found = conv2d(
        *(input.unsqueeze(-2), weight.unsqueeze(-2), bias),
        stride=_along_a_row(stride, 1),
        padding=padding if isinstance(padding, str) else _along_a_row(padding, 0),
        dilation=_along_a_row(dilation, 1),
        groups=groups,
        residual=None if residual is None else residual.unsqueeze(-2),
        activation=activation,
        allow_tf32=allow_tf32,
    )
    return found.squeeze(-2)


def _along_a_row(value: Any, across: int) -> tuple[int, ...]:
    return (across, *((value,) if isinstance(value, int) else value))


def _of_layer(convolution: Callable[..., Any]) -> Callable[..., Any]:
    """What computes the result of a layer by a convolution, with padding that may be other than zeros."""

    def conv_forward(layer: Any, input: Any, weight: Any, bias: Any) -> Any:
        input, weight, bias = autocast(input, weight, bias)
        padding = layer.padding
        if layer.padding_mode != "zeros":
            beside = layer._reversed_padding_repeated_twice
            input, padding = torch.nn.functional.pad(input, beside, mode=layer.padding_mode), 0
        return convolution(input, weight, bias, layer.stride, padding, layer.dilation, layer.groups)

    return conv_forward


class Conv2d(torch.nn.Conv2d):
    """``torch.nn.Conv2d`` by conv2d, in true FP32, bfloat16 and float16.

    Weights that are channels_last, as ``module.to(memory_format=torch.channels_last)`` stores them, are not copied.
    Under ``torch.autocast`` input, weights and bias are cast to its type first, as PyTorch's are.
    """

    _conv_forward = _of_layer(conv2d)


class Conv3d(torch.nn.Conv3d):
    """``torch.nn.Conv3d`` by conv3d; see `Conv2d`, with torch.channels_last_3d."""

    _conv_forward = _of_layer(conv3d)


class Conv1d(torch.nn.Conv1d):
    """``torch.nn.Conv1d`` by conv1d; see `Conv2d`."""

    _conv_forward = _of_layer(conv1d)
