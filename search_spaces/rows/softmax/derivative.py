"""How softmax is differentiated: by softmax_backward, whatever is masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """dx = y · (dy - Σ y·dy) / temperature, or (dy - e^y · Σ dy) / temperature; what is masked gets 0.

    The gradient of a mask that is added is summed over the matrices that share it, and not divided.
    """
    arguments, gradient = given.arguments, given.gradients["out"].contiguous()  # an expanded scalar has no rows
    scale, y, log = 1 / arguments["temperature"], given.saved["out"], arguments["log"]
    backward, found = given.operators.softmax_backward, {}
    if "input" in given.wanted:
        found["input"] = backward(gradient, y, scale=scale, log=log)
    if "mask" in given.wanted:
        of_each = backward(gradient, y, log=log)
        found["mask"] = of_each.float().sum_to_size(given.shapes["mask"]).to(of_each.dtype)
    return found


DERIVATIVE = Derivative(_backward, saves=("out",))
