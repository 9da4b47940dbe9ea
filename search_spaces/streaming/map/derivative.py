"""How map is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """By map itself, from the gradient of the results; a bias gets the sum over all rows."""
    gradient, arguments = given.gradients["out"].contiguous(), given.arguments
    x, factors, bias, scale = (given.saved[name] for name in ("input", "factors", "bias", "scale"))
    if arguments["saturate"] or given.shapes.get("grad"):
        raise NotImplementedError("map has no derivative with saturate=True, and none of its gradients")
    scaled = gradient if scale is None else gradient * scale.to(gradient.dtype)
    found = {"residual": scaled.to(x.dtype)} if "residual" in given.wanted else {}
    if not given.wanted & {"input", "factors", "bias"}:
        return found
    both = given.operators.map(
        x,
        arguments["function"],
        factors=factors,
        packed=arguments["packed"],
        bias=bias,
        grad=scaled,
        dtype=arguments["dtype"],
    )
    of_input = both if factors is None else both[0]
    found["input"] = of_input
    if factors is not None:
        found["factors"] = both[1]
    if "bias" in given.wanted:
        columns = bias.shape[0]
        of_argument = {"halves": of_input[..., :columns], "interleaved": of_input[..., 0::2]}
        found["bias"] = of_argument.get(arguments["packed"] or "", of_input).reshape(-1, columns).sum(0)
    return found


DERIVATIVE = Derivative(_backward, saves=("input", "factors", "bias", "scale"))
