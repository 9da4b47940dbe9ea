"""What users would call instead of reduce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ....codegen.rows.reduce.operation import Operation
from ....codegen.rows.reduce.problem import Axis, ReduceProblem
from ...baselines import TorchCall, compiled

_NAMES = {Operation.MAX: "amax", Operation.MIN: "amin"}  # others are called as here


def _reduce(torch: Any, problem: ReduceProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """All elements are one row."""
    if problem.op is Operation.L2:
        function = torch.linalg.vector_norm
    else:
        function = getattr(torch, _NAMES.get(problem.op, problem.op))
    return partial(function, tensors["x"], dim=0 if problem.axis is Axis.FIRST else 1, out=tensors["y"])


_EAGER = TorchCall("torch.sum, mean, linalg.vector_norm, amax, amin, argmax, argmin", _reduce)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _EAGER, "compile": compiled(_EAGER)}
