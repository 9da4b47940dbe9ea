"""What users would call instead of reduce."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ....codegen.rows.reduce.problem import Axis, Operation, ReduceProblem
from ...baselines import TorchCall

_NAMES = {Operation.SUM: "sum", Operation.MAX: "amax", Operation.ARGMAX: "argmax"}


def _reduce(torch: Any, problem: ReduceProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """All elements are one row."""
    function = getattr(torch, _NAMES[problem.op])
    return partial(function, tensors["x"], dim=0 if problem.axis is Axis.FIRST else 1, out=tensors["y"])


BASELINES: Mapping[str, TorchCall | str] = {"torch": TorchCall("torch.sum, torch.amax, torch.argmax", _reduce)}
