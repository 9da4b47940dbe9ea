"""How transpose is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """dA = dBᵀ."""
    return {"a": given.operators.transpose(given.gradients["out"].contiguous())}


DERIVATIVE = Derivative(_backward)
