"""What users would call instead of softmax."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import Any

from autotune.codegen.rows.softmax.mask import Mask
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled


def _softmax(torch: Any, problem: SoftmaxProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """Lengths and causal blocks become a mask ahead of time, as users do who mask several layers alike."""
    x, y, temperature = tensors["x"], tensors["y"], problem.scalars["temperature"]
    function = torch.log_softmax if problem.log else torch.softmax
    if not problem.masked and not problem.has_mask and not problem.lse and not problem.zero_rows:
        return partial(function, x, -1, out=y)
    impossible = _impossible(torch, problem, tensors)

    def compute() -> None:
        scaled = _with_mask(problem, x, tensors.get("mask"))
        scaled = scaled if impossible is None else scaled.masked_fill(impossible, -inf)
        if temperature != 1 and problem.mask is not Mask.ADD:
            scaled = scaled / temperature if scaled is x else scaled.div_(temperature)
        function(scaled, -1, out=y)
        if problem.zero_rows:
            y.masked_fill_((scaled == -inf).all(-1, True), -inf if problem.log else 0.0)
        if problem.lse:
            tensors["lse"].copy_(torch.logsumexp(scaled.float(), -1))

    return compute


def _with_mask(problem: SoftmaxProblem, x: Any, mask: Any) -> Any:
    """x, and what a mask of several matrices makes of it."""
    if mask is None:
        return x
    if problem.rows % (problem.queries * problem.heads):
        raise NotTakenError(
            f"rows={problem.rows}: expected whole masks of {problem.queries} rows for {problem.heads} blocks"
        )
    matrices = x.unflatten(0, (-1, problem.heads, problem.queries))
    masks = mask.unflatten(0, (-1, 1, problem.queries))
    if problem.mask is Mask.KEEP:
        return matrices.masked_fill(~masks, -inf).flatten(0, 2)
    return (matrices / problem.scalars["temperature"] + masks).to(x.dtype).flatten(0, 2)


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
BASELINES: Mapping[str, TorchCall | str] = {
    "torch": _EAGER,
    "compile": compiled(_EAGER),
    "triton": "bench.baselines.rows.triton_baseline:SOFTMAX",
    "liger": "bench.baselines.rows.liger:SOFTMAX",
    "quack": "bench.baselines.rows.quack:SOFTMAX",
}
