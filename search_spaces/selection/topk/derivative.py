"""How topk is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """Each result passes its gradient on to its element; results of no element have none."""
    gradient, indices = given.gradients["values"], given.saved["indices"]
    shape = given.shapes["input"]
    chosen = gradient.masked_fill(indices < 0, 0)
    zeros = gradient.new_zeros(shape)
    return {"input": zeros.scatter_add(-1, indices.clamp(min=0).long(), chosen)}


DERIVATIVE = Derivative(_backward, saves=("indices",))
