"""How reduce is differentiated."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.rows.reduce.operation import Operation
from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """Sums pass their gradient on to all of their elements, extremes to the element whose index is the result."""
    x, other, offsets = (given.saved[name] for name in ("input", "other", "offsets"))
    op, dim, shape = Operation(given.arguments["op"]), given.arguments["dim"], given.shapes["input"]
    if dim is None:
        shape, dim, x = (prod(shape),), 0, x.reshape(-1)
        other = None if other is None else other.reshape(-1)

    def spread(results: Any) -> Any:
        """What belongs to each result, for each of its elements."""
        if offsets is None:
            return results.unsqueeze(dim).expand(shape)
        return results.repeat_interleave(offsets.diff(), output_size=shape[0])

    gradient, found = spread(given.gradients["out"]), {}
    if op is Operation.DOT:
        found = {"input": gradient * other, "other": gradient * x}
    elif op.root:
        root, difference = spread(given.saved["out"]), x if other is None else x - other
        slope = (difference * (gradient / root)).masked_fill(root == 0, 0)
        found = {"input": slope, "other": -slope}
    elif op is Operation.MEAN:
        found["input"] = gradient / (shape[dim] if offsets is None else spread(offsets.diff()))
    elif op.adds:
        found["input"] = gradient
    else:
        index = given.operators.reduce(x, f"arg{op}", given.arguments["dim"], offsets=offsets)
        along = x.new_ones(shape, dtype=index.dtype).cumsum(dim) - 1
        found["input"] = gradient.masked_fill(along != spread(index if offsets is None else index + offsets[:-1]), 0)
    return {name: found[name].reshape(given.shapes[name]) for name in found if name in given.wanted}


DERIVATIVE = Derivative(_backward, saves=("input", "other", "offsets", "out"))
