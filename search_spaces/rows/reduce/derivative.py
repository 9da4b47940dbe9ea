"""How reduce is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from ....codegen.rows.reduce.operation import Operation
from ...derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """Sums pass their gradient on to all of their elements, extremes to the element whose index is the result."""
    x, op, dim = given.saved["input"], Operation(given.arguments["op"]), given.arguments["dim"]
    shape = given.shapes["input"]
    if dim is None:
        shape, dim, x = (prod(shape),), 0, x.reshape(-1)
    gradient = given.gradients["out"].unsqueeze(dim)
    if op.adds:
        found = gradient.expand(shape)
        if op is Operation.MEAN:
            found = found / shape[dim]
        elif op is Operation.L2:
            norm = given.saved["out"].unsqueeze(dim)
            found = (x * (gradient / norm)).masked_fill(norm == 0, 0)
    else:
        index = given.operators.reduce(x, f"arg{op}", dim).unsqueeze(dim)
        found = x.new_zeros(shape).scatter(dim, index, gradient)
    return {"input": found.reshape(given.shapes["input"])}


DERIVATIVE = Derivative(_backward, saves=("input", "out"))
