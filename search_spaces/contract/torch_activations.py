"""Activations by calls of PyTorch, for baselines."""

from __future__ import annotations

from typing import Any

from autotune.codegen.epilogue.activation import Activation

GELU_APPROXIMATIONS = {Activation.GELU: "none", Activation.GELU_TANH: "tanh"}
_QUICK = 1.702
_OF_TENSORS = (Activation.SIGMOID, Activation.TANH, Activation.EXP)


def activated(torch: Any, activation: Activation, z: Any) -> Any:
    """The activation of each element of a tensor."""
    functional = torch.nn.functional
    if activation in GELU_APPROXIMATIONS:
        return functional.gelu(z, approximate=GELU_APPROXIMATIONS[activation])
    if activation is Activation.QUICK_GELU:
        return z * torch.sigmoid(_QUICK * z)
    if activation is Activation.RELU2:
        return torch.square(functional.relu(z))
    if activation is Activation.IDENTITY:
        return z
    return getattr(torch if activation in _OF_TENSORS else functional, activation)(z)
