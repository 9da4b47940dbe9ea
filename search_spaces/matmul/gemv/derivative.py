"""How gemv is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, sqrt
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """With g the gradient before the activation: dx = alpha·g·W by gemv, dW = alpha·gᵀ·x, and Σ g for the bias.

    The number before the activation is computed again.

    Raises:
        ValueError: the weights are quantised.
    """
    if given.saved["weight"].dtype != given.saved["input"].dtype:
        raise ValueError(f"weight has dtype {given.saved['weight'].dtype}: gemv has no gradients of quantised weights")
    x, w, alpha = given.saved["input"], given.saved["weight"], given.arguments["alpha"]
    gradient = given.gradients["out"].contiguous()
    activation = given.arguments["activation"]
    if activation != Activation.IDENTITY:
        z = given.operators.gemv(x, w, given.saved["bias"], alpha=alpha)
        gradient = (gradient * _slope(Activation(activation), z)).to(x.dtype)
    found = {}
    if "input" in given.wanted:
        found["input"] = given.operators.gemv(gradient, w.mT, alpha=alpha)
    if "weight" in given.wanted:
        vectors, left = (gradient, x) if w.ndim > 2 else (gradient.reshape(-1, w.shape[0]), x.reshape(-1, w.shape[1]))
        found["weight"] = alpha * (vectors.mT @ left)
    if "bias" in given.wanted:
        found["bias"] = gradient.reshape(-1, gradient.shape[-1]).sum(0)
    return found


def _slope(activation: Activation, z: Any) -> Any:
    """The derivative of an activation, in float32."""
    z = z.float()
    if activation is Activation.RELU:
        return (z > 0).to(z.dtype)
    if activation is Activation.SILU:
        sigmoid = z.sigmoid()
        return sigmoid * (1 + z * (1 - sigmoid))
    if activation is Activation.GELU:
        return 0.5 * (1 + (z / sqrt(2)).erf()) + z * (-0.5 * z * z).exp() / sqrt(2 * pi)
    inner = sqrt(2 / pi) * (z + 0.044715 * z**3)
    tanh = inner.tanh()
    return 0.5 * (1 + tanh) + 0.5 * z * (1 - tanh * tanh) * sqrt(2 / pi) * (1 + 3 * 0.044715 * z * z)


DERIVATIVE = Derivative(_backward, saves=("input", "weight", "bias"))
