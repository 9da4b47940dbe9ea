"""What users would call instead of norm_backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.rows.norm_backward.problem import NormBackwardProblem
from autotune.search_spaces.contract.baselines import TorchCall, compiled


def _gradients(torch: Any, problem: NormBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """PyTorch's backward by the statistics of its forward, made ahead of time."""
    x, weight, dy = tensors["x"], tensors.get("weight"), tensors["dy"]
    shape, (mean, rstd) = problem.normalized_shape, _statistics(problem, tensors)
    if problem.centered:
        bias = torch.zeros_like(x[0], dtype=x.dtype if weight is None else weight.dtype) if problem.bias else None
        wanted = [True, problem.weight, problem.bias]

        def gradients() -> Any:
            return torch.ops.aten.native_layer_norm_backward(dy, x, shape, mean, rstd, weight, bias, wanted)

    else:

        def gradients() -> Any:  # what autograd calls, whose own call does not go into a graph
            return torch.ops.aten._fused_rms_norm_backward(dy, x, shape, rstd, weight, [True, problem.weight])

    def compute() -> Mapping[str, Any]:
        return {name: result for name, result in zip(("dx", "dw", "db"), gradients(), strict=False) if name in tensors}

    return compute


def _statistics(problem: NormBackwardProblem, tensors: Mapping[str, Any]) -> tuple[Any, Any]:
    """mean, or 0 where it is not subtracted, and rstd, as columns: those that a problem has, or else made here."""
    if problem.saved:
        return tensors["mean"][:, None] if problem.centered else 0.0, tensors["rstd"][:, None]
    x = tensors["x"].float()
    mean = x.mean(-1, True) if problem.centered else 0.0
    return mean, ((x - mean).square().mean(-1, True) + problem.scalars["eps"]).rsqrt()


def _formulas(torch: Any, problem: NormBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """What autograd gives PyTorch's compiler for the backward pass, which has the statistics of the forward pass."""
    x, weight, dy = tensors["x"], tensors.get("weight"), tensors["dy"]
    mean, rstd = _statistics(problem, tensors)

    def compute() -> None:
        normal, plain = (x.float() - mean) * rstd, dy.float()
        g = plain if weight is None else plain * weight.float()
        centered = g - g.mean(-1, True) if problem.centered else g
        tensors["dx"].copy_((centered - normal * (g * normal).mean(-1, True)) * rstd)
        if problem.weight:
            tensors["dw"].copy_((plain * normal).sum(0))
        if problem.bias:
            tensors["db"].copy_(plain.sum(0))

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("native_layer_norm_backward and _fused_rms_norm_backward of torch.ops.aten", _gradients),
    "compile": compiled(TorchCall("the formulas of the backward pass", _formulas)),
    "liger": "bench.baselines.rows.liger:NORM_BACKWARD",
    "quack": "bench.baselines.rows.quack:NORM_BACKWARD",
}
