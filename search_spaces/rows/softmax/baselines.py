"""What users would call instead of softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any

from ....codegen.rows.softmax.problem import SoftmaxProblem
from ...baselines import TorchCall, compiled


def _softmax(torch: Any, problem: SoftmaxProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """Lengths and causal blocks become a mask ahead of time, as users do who mask several layers alike."""
    x, y, temperature = tensors["x"], tensors["y"], problem.scalars["temperature"]
    function = torch.log_softmax if problem.log else torch.softmax
    if not problem.masked and not problem.lse and not problem.zero_rows:
        return partial(function, x, -1, out=y)
    impossible = _impossible(torch, problem, tensors)

    def compute() -> None:
        scaled = x if impossible is None else x.masked_fill(impossible, -inf).div_(temperature)
        function(scaled, -1, out=y)
        if problem.zero_rows:
            y.masked_fill_((scaled == -inf).all(-1, True), -inf if problem.log else 0.0)
        if problem.lse:
            tensors["lse"].copy_(torch.logsumexp(scaled.float(), -1))

    return compute


def _impossible(torch: Any, problem: SoftmaxProblem, tensors: Mapping[str, Any]) -> Any:
    """Which elements count as -infinity; None if none are stated to."""
    x = tensors["x"]
    columns = torch.arange(problem.columns, device=x.device)
    found = columns >= tensors["lengths"][:, None] if problem.lengths else None
    if problem.causal:
        first = problem.columns - problem.queries + 1
        behind = columns >= (torch.arange(problem.rows, device=x.device) % problem.queries + first)[:, None]
        found = behind if found is None else found | behind
    return found


_EAGER = TorchCall("torch.softmax, torch.log_softmax, torch.logsumexp", _softmax)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _EAGER, "compile": compiled(_EAGER)}
