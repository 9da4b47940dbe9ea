"""What users would call instead of softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any

from ....codegen.rows.softmax.problem import SoftmaxProblem
from ...baselines import TorchCall


def _softmax(torch: Any, problem: SoftmaxProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """Lengths become a mask ahead of time, as users do who mask several layers alike."""
    x, y = tensors["x"], tensors["y"]
    if not problem.lengths:
        return partial(torch.softmax, x, -1, out=y)
    impossible = torch.arange(problem.columns, device=x.device) >= tensors["lengths"][:, None]
    temperature = problem.scalars["temperature"]
    return lambda: torch.softmax(x.masked_fill(impossible, -inf).div_(temperature), -1, out=y)


BASELINES: Mapping[str, TorchCall | str] = {"torch": TorchCall("torch.softmax", _softmax)}
