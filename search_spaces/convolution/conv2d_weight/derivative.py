"""How conv2d_weight is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative
from autotune.search_spaces.convolution.arguments import pairs_of
from autotune.search_spaces.convolution.conv2d.gradients import of_images


def _backward(given: Backward) -> Mapping[str, Any]:
    """By convolutions: what it computes is linear in the images and in the gradient."""
    x, grad, filters = given.saved["x"], given.saved["grad"], given.gradients["out"].contiguous()
    steps = pairs_of(given.arguments)
    kept = {name: given.arguments[name] for name in ("groups", "alpha", "allow_tf32")}
    found = {}
    if "grad" in given.wanted:
        found["grad"] = given.operators.conv2d(x, filters, **steps, **kept)
    if "x" in given.wanted:
        found["x"] = of_images(given.operators, grad, filters, x.shape, steps, kept)
    return found


DERIVATIVE = Derivative(_backward, saves=("x", "grad"))
