"""The forwards of norms by operators of this project."""

from __future__ import annotations

from functools import partial
from typing import Any

from autotune import torch as functions


def rms_norm(module: Any, weight_offset: float, x: Any) -> Any:
    """The forward of a layer that divides rows by the roots of the means of their squares.

    Args:
        module: the layer, with a `weight` and a `variance_epsilon` or `eps`.
        weight_offset: is added to the weight.
        x: rows along the last axis.
    """
    eps = module.variance_epsilon if hasattr(module, "variance_epsilon") else module.eps
    norm = partial(functions.rms_norm, weight_offset=weight_offset)
    if x.ndim == 4 and not x.is_contiguous():  # heads ahead of places: rows are evenly spaced the other way round
        return norm(x.transpose(1, 2).contiguous(), module.weight.shape, module.weight, eps).transpose(1, 2)
    return norm(x.contiguous(), module.weight.shape, module.weight, eps)


def layer_norm(module: Any, x: Any) -> Any:
    """The forward of a ``torch.nn.LayerNorm``."""
    return functions.layer_norm(x.contiguous(), module.normalized_shape, module.weight, module.bias, module.eps)
