"""How softmax is differentiated: by softmax_backward, whatever is masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """dx = y · (dy - Σ y·dy) / temperature, or (dy - e^y · Σ dy) / temperature; what is masked gets 0."""
    arguments, gradient = given.arguments, given.gradients["out"].contiguous()  # an expanded scalar has no rows
    scale = 1 / arguments["temperature"]
    backward = given.operators.softmax_backward
    return {"input": backward(gradient, given.saved["out"], scale=scale, log=arguments["log"])}


DERIVATIVE = Derivative(_backward, saves=("out",))
