"""How conv2d is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.search_spaces.contract.derivative import Backward, Derivative
from autotune.search_spaces.convolution.arguments import pairs_of

from .gradients import AXES, of_filters, of_images


def backward(given: Backward) -> Mapping[str, Any]:
    """By conv2d_input, by conv2d_weight, and by map for an activation, of numbers that are computed anew; see
    `gradients` for images with a depth.

    All sums have a fixed order: equal gradients give equal bits. int8 and its scales have none.
    """
    x, weight, arguments = given.saved["x"], given.saved["weight"], given.arguments
    gradient = given.gradients["out"].contiguous()
    found = {"residual": arguments["beta"] * gradient} if "residual" in given.wanted else {}
    if not given.wanted & {"x", "weight", "bias"}:
        return found
    steps = pairs_of(arguments, len(given.shapes["x"]) - 2)
    kept = {name: arguments[name] for name in ("groups", "alpha", "allow_tf32")}
    more = {name: arguments[name] for name in ("allow_winograd",) if name in arguments}
    if (activation := arguments["activation"]) != Activation.IDENTITY:
        convolve = given.operators.conv3d if len(given.shapes["x"]) > AXES else given.operators.conv2d
        integers = {"scale": given.saved["scale"], "dtype": arguments["dtype"]} if "dtype" in arguments else {}
        before = convolve(x, weight, given.saved["bias"], **steps, **kept, **more, **integers)
        gradient = given.operators.map(before, activation, grad=gradient)
    if "bias" in given.wanted:
        found["bias"] = gradient.sum_to_size(given.shapes["bias"])
    if "x" in given.wanted:
        found["x"] = of_images(given.operators, gradient, weight, x.shape, steps, {**kept, **more})
    if "weight" in given.wanted:
        found["weight"] = of_filters(given.operators, x, gradient, weight.shape[1:-1], steps, kept)
    return found


DERIVATIVE = Derivative(backward, saves=("x", "weight", "bias", "scale"))
