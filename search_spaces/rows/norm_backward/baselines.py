"""What users would call instead of norm_backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....codegen.rows.norm_backward.problem import NormBackwardProblem
from ...baselines import TorchCall, compiled


def _gradients(torch: Any, problem: NormBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """PyTorch's backward by the statistics of its forward, made ahead of time; new tensors are copied."""
    x, weight, dy = tensors["x"], tensors.get("weight"), tensors["dy"]
    shape, eps = problem.normalized_shape, problem.scalars["eps"]
    if problem.centered:
        bias = torch.zeros_like(x[0], dtype=x.dtype if weight is None else weight.dtype) if problem.bias else None
        _, mean, rstd = torch.native_layer_norm(x, shape, weight, bias, eps)
        mean, rstd = _saved(problem, tensors, mean, rstd)
        wanted = [True, problem.weight, problem.bias]

        def gradients() -> Any:
            return torch.ops.aten.native_layer_norm_backward(dy, x, shape, mean, rstd, weight, bias, wanted)

    else:
        _, rstd = torch.ops.aten._fused_rms_norm(x, shape, weight, eps)
        _, rstd = _saved(problem, tensors, None, rstd)

        def gradients() -> Any:  # what autograd calls, whose own call does not go into a graph
            return torch.ops.aten._fused_rms_norm_backward(dy, x, shape, rstd, weight, [True, problem.weight])

    def compute() -> None:
        for name, result in zip(("dx", "dw", "db"), gradients(), strict=False):
            if name in tensors:
                tensors[name].copy_(result)

    return compute


def _saved(problem: NormBackwardProblem, tensors: Mapping[str, Any], mean: Any, rstd: Any) -> tuple[Any, Any]:
    """The statistics that a problem has, or else these."""
    if not problem.saved:
        return mean, rstd
    return tensors["mean"][:, None] if problem.centered else mean, tensors["rstd"][:, None]


def _formulas(torch: Any, problem: NormBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """What autograd gives PyTorch's compiler for the backward pass, which has the statistics of the forward pass."""
    x, weight, dy = tensors["x"], tensors.get("weight"), tensors["dy"]
    mean = x.float().mean(-1, True) if problem.centered else 0.0
    rstd = ((x.float() - mean).square().mean(-1, True) + problem.scalars["eps"]).rsqrt()
    mean, rstd = _saved(problem, tensors, mean, rstd)

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
}
