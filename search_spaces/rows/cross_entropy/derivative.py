"""How cross_entropy is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """The gradient of the logits, from log Σ exp of each row."""
    names = ("ignore_index", "label_smoothing", "lse_square_scale", "softcap")
    gradient = given.operators.cross_entropy_backward(
        *(given.saved[name] for name in ("input", "target", "lse")),
        given.gradients["out"].contiguous(),
        **{name: given.arguments[name] for name in names},
    )
    return {"input": gradient}


DERIVATIVE = Derivative(_backward, saves=("input", "target", "lse"))
