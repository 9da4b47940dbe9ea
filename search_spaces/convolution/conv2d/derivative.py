"""How conv2d is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.derivative import Backward, Derivative

from .call import pairs_of


def _backward(given: Backward) -> Mapping[str, Any]:
    """By conv2d itself, by products, and by map for an activation, of numbers that are computed anew.

    All sums have a fixed order: equal gradients give equal bits.
    """
    x, weight, arguments = given.saved["x"], given.saved["weight"], given.arguments
    gradient = given.gradients["out"].contiguous()
    found = {"residual": arguments["beta"] * gradient} if "residual" in given.wanted else {}
    if not given.wanted & {"x", "weight", "bias"}:
        return found
    steps = pairs_of(arguments)
    kept = {name: arguments[name] for name in ("groups", "alpha", "allow_tf32")}
    if (activation := arguments["activation"]) != Activation.IDENTITY:
        before = given.operators.conv2d(x, weight, given.saved["bias"], **steps, **kept)
        gradient = given.operators.map(before, activation, grad=gradient)
    if "bias" in given.wanted:
        found["bias"] = gradient.sum_to_size(given.shapes["bias"])
    if "x" in given.wanted:
        found["x"] = _of_images(given.operators, gradient, weight, x.shape, steps, kept)
    if "weight" in given.wanted:
        found["weight"] = _of_filters(given.operators, gradient, x, weight.shape, steps, kept)
    return found


def _of_images(
    operators: Any,
    gradient: Any,
    weight: Any,
    shape: tuple[int, ...],
    steps: Mapping[str, tuple[int, ...]],
    kept: Mapping[str, Any],
) -> Any:
    """The convolution of the gradient with turned filters; with a stride, zeros are between the gradient's pixels."""
    batch, *extents, channels = gradient.shape
    groups, beside, cuts, spread = kept["groups"], [], [], []
    for i, taps in enumerate(weight.shape[1:3]):
        stride, padding, dilation = (steps[name][i] for name in ("stride", "padding", "dilation"))
        unseen = (shape[1 + i] + 2 * padding - dilation * (taps - 1) - 1) % stride  # rows that no filter reaches
        spread.append((extents[i] - 1) * stride + 1 + unseen)
        beside.append(max(0, dilation * (taps - 1) - padding))
        cuts.append(max(0, padding - dilation * (taps - 1)))
    pixels = gradient
    if spread != extents:
        pixels = gradient.new_zeros(batch, *spread, channels)
        pixels[:, :: steps["stride"][0], :: steps["stride"][1]][:, : extents[0], : extents[1]] = gradient
    if any(cuts):
        pixels = pixels[:, cuts[0] : spread[0] - cuts[0], cuts[1] : spread[1] - cuts[1]]
    turned = weight.flip(1, 2).unflatten(0, (groups, -1)).permute(0, 4, 2, 3, 1).flatten(0, 1).contiguous()
    return operators.conv2d(pixels, turned, padding=tuple(beside), dilation=steps["dilation"], **kept)


def _of_filters(
    operators: Any,
    gradient: Any,
    x: Any,
    shape: tuple[int, ...],
    steps: Mapping[str, tuple[int, ...]],
    kept: Mapping[str, Any],
) -> Any:
    """For each row of the filters a product of the gradient with what is under its taps, which is copied."""
    filters, rows, columns, channels = shape
    groups, padded = kept["groups"], x
    if any(padding := steps["padding"]):
        batch, height, width, _ = x.shape
        padded = x.new_zeros(batch, height + 2 * padding[0], width + 2 * padding[1], x.shape[3])
        padded[:, padding[0] : padding[0] + height, padding[1] : padding[1] + width] = x
    seen = padded  # (batch, out_height, out_width, channels, rows, columns)
    for axis, (taps, stride, dilation) in enumerate(
        zip((rows, columns), steps["stride"], steps["dilation"], strict=True), 1
    ):
        seen = seen.unfold(axis, (taps - 1) * dilation + 1, stride)[..., ::dilation]
    found = x.new_empty(shape)
    if channels == 1 and filters == groups:
        wide = gradient.float() * kept["alpha"]
        for row in range(rows):
            for column in range(columns):
                found[:, row, column, 0] = (seen[..., row, column].float() * wide).sum((0, 1, 2)).to(x.dtype)
        return found
    by_filter = gradient.reshape(-1, groups, filters // groups).permute(1, 2, 0)
    for row in range(rows):
        by_pixel = seen[..., row, :].unflatten(3, (groups, channels)).permute(3, 0, 1, 2, 5, 4)
        by_pixel = by_pixel.reshape(groups, -1, columns * channels)
        pair = (by_filter, by_pixel) if groups > 1 else (by_filter[0], by_pixel[0])
        if gradient.dtype.itemsize == DType.FLOAT32.bytes and not kept["allow_tf32"]:
            product = operators.sgemm(*pair, alpha=kept["alpha"])
        else:
            product = operators.gemm(*pair, alpha=kept["alpha"], allow_tf32=kept["allow_tf32"])
        found[:, row] = product.reshape(filters, columns, channels)
    return found


DERIVATIVE = Derivative(_backward, saves=("x", "weight", "bias"))
