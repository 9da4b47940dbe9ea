"""How conv2d_planes is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative
from autotune.search_spaces.convolution.conv2d.derivative import DERIVATIVE as CHANNELS_LAST

_ARRAYS = ("x", "weight", "residual")


def _backward(given: Backward) -> Mapping[str, Any]:
    """As of conv2d, of arrays whose channels are copied to be last."""
    saved = {name: _last(one) for name, one in given.saved.items()}
    gradients = {name: _last(one) for name, one in given.gradients.items()}
    shapes = {name: _reordered(shape) for name, shape in given.shapes.items()}
    found = CHANNELS_LAST.backward(given._replace(saved=saved, gradients=gradients, shapes=shapes))
    return {name: one.permute(0, 3, 1, 2).contiguous() if name in _ARRAYS else one for name, one in found.items()}


def _last(array: Any) -> Any:
    return array.permute(0, 2, 3, 1).contiguous() if array is not None and array.ndim == 4 else array


def _reordered(shape: Any) -> Any:
    return (shape[0], *shape[2:], shape[1]) if len(shape) == 4 else shape


DERIVATIVE = Derivative(_backward, saves=("x", "weight", "bias"))
