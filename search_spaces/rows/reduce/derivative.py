"""How reduce is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from ....codegen.rows.reduce.operation import Operation
from ...derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """Sums pass their gradient on to all of their elements, extremes to the element whose index is the result."""
    x, other = given.saved["input"], given.saved["other"]
    op, dim, shape = Operation(given.arguments["op"]), given.arguments["dim"], given.shapes["input"]
    if dim is None:
        shape, dim, x = (prod(shape),), 0, x.reshape(-1)
        other = None if other is None else other.reshape(-1)
    gradient = given.gradients["out"].unsqueeze(dim)
    found = {}
    if op is Operation.DOT:
        found = {"input": gradient * other, "other": gradient * x}
    elif op.root:
        root, difference = given.saved["out"].unsqueeze(dim), x if other is None else x - other
        slope = (difference * (gradient / root)).masked_fill(root == 0, 0)
        found = {"input": slope, "other": -slope}
    elif op.adds:
        found["input"] = gradient.expand(shape) / (shape[dim] if op is Operation.MEAN else 1)
    else:
        index = given.operators.reduce(x, f"arg{op}", dim).unsqueeze(dim)
        found["input"] = x.new_zeros(shape).scatter(dim, index, gradient)
    return {name: found[name].reshape(given.shapes[name]) for name in found if name in given.wanted}


DERIVATIVE = Derivative(_backward, saves=("input", "other", "out"))
