"""How sgemm is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative
from autotune.search_spaces.matmul.derivative import operand_gradients


def _backward(given: Backward) -> Mapping[str, Any]:
    """By sgemm itself."""
    a, b, alpha = given.saved["a"], given.saved["b"], given.arguments["alpha"]
    return operand_gradients(given.operators.sgemm, a, b, given.gradients["out"], alpha, given.wanted)


DERIVATIVE = Derivative(_backward, saves=("a", "b"))
