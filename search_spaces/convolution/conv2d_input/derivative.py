"""How conv2d_input is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative
from autotune.search_spaces.convolution.arguments import pairs_of


def _backward(given: Backward) -> Mapping[str, Any]:
    """By a convolution, and by conv2d_weight: what it computes is linear in the gradient and in the weight."""
    grad, weight, images = given.saved["grad"], given.saved["weight"], given.gradients["out"].contiguous()
    steps = pairs_of(given.arguments)
    kept = {name: given.arguments[name] for name in ("alpha", "allow_tf32")}
    found = {}
    if "grad" in given.wanted:
        found["grad"] = given.operators.conv2d(images, weight, **steps, **kept)
    if "weight" in given.wanted:
        found["weight"] = given.operators.conv2d_weight(images, grad, tuple(weight.shape[1:3]), **steps, **kept)
    return found


DERIVATIVE = Derivative(_backward, saves=("grad", "weight"))
