"""How rms_norm and layer_norm are differentiated: both by norm_backward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward, centered: bool) -> Mapping[str, Any]:
    x, weight, arguments = given.saved["input"].contiguous(), given.saved["weight"], given.arguments
    statistics = {name: given.saved[name] for name in ("mean", "rstd") if name in given.saved}
    gradients = given.operators.norm_backward(
        x,
        given.gradients["out"].contiguous(),
        arguments["normalized_shape"],
        None if weight is None else weight.contiguous(),
        arguments["eps"],
        **statistics,
        weight_offset=arguments["weight_offset"],
        centered=centered,
        bias="bias" in given.wanted,
    )
    named = zip(("input", "weight", "bias"), gradients, strict=True)
    return {name: gradient for name, gradient in named if name in given.wanted}


def _backward_rms(given: Backward) -> Mapping[str, Any]:
    """dx = rstd · (g - x̂ · mean of g · x̂) and dw = Σ dy · x̂, where g = dy · (weight + weight_offset)."""
    return _backward(given, centered=False)


def _backward_layer(given: Backward) -> Mapping[str, Any]:
    """dx = rstd · (g - mean of g - x̂ · mean of g · x̂), dw = Σ dy · x̂ and db = Σ dy."""
    return _backward(given, centered=True)


RMS_DERIVATIVE = Derivative(_backward_rms, saves=("input", "weight", "rstd"))
LAYER_DERIVATIVE = Derivative(_backward_layer, saves=("input", "weight", "mean", "rstd"))
