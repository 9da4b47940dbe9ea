"""How dropout is differentiated: by dropping the same elements of the gradient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    gradient, found = given.gradients["out"], {}
    if given.wanted & {"input", "bias"}:
        # An expanded scalar has no rows.
        gradient, arguments = gradient.contiguous(), given.arguments
        of_input = given.operators.dropout(
            gradient, arguments["p"], arguments["seed"], arguments["offset"], state=given.saved["state"]
        )
        found["input"] = of_input
        found["bias"] = of_input.flatten(0, -2).sum(0) if "bias" in given.wanted else None
    if "residual" in given.wanted:
        found["residual"] = gradient
    return found


DERIVATIVE = Derivative(_backward, saves=("state",))
