"""What users would call instead of topk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.selection.topk.order import Order
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled


def _topk(torch: Any, problem: TopkProblem, tensors: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    """PyTorch has no lengths, and its indices are int64. What is not sorted has no order."""
    if problem.lengths:
        raise NotTakenError("PyTorch has no topk of rows with lengths")
    x, k, in_order = tensors["x"], problem.k, problem.order is Order.SORTED

    def compute() -> Mapping[str, Any]:
        values, indices = torch.topk(x, k, dim=-1, largest=problem.largest, sorted=in_order)
        return {"values": values, "indices": indices}

    return compute


def _flag_gems(torch: Any, problem: TopkProblem, tensors: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    """As PyTorch's."""
    if problem.lengths:
        raise NotTakenError("FlagGems has no topk of rows with lengths")
    from flag_gems.ops.topk import topk

    x, k, in_order = tensors["x"], problem.k, problem.order is Order.SORTED

    def compute() -> Mapping[str, Any]:
        values, indices = topk(x, k, dim=-1, largest=problem.largest, sorted=in_order)
        return {"values": values, "indices": indices}

    return compute


# Of equal elements, PyTorch takes any, so its answers are others.
_EAGER = TorchCall("torch.topk", _topk, verified=False)
BASELINES: Mapping[str, TorchCall | str] = {
    "torch": _EAGER,
    "compile": compiled(_EAGER),
    "cccl": "bench.baselines.selection.cccl:TOPK",
    "flag_gems": TorchCall("flag_gems.topk, in Triton", _flag_gems, verified=False, needs="flag-gems"),
    "flashinfer": "bench.baselines.selection.flashinfer:TOPK",
}
