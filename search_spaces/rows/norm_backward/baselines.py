"""What users would call instead of norm_backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ....codegen.rows.norm_backward.problem import NormBackwardProblem
from ...baselines import TorchCall, compiled


def _gradients(torch: Any, problem: NormBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """PyTorch's backward of a forward that was computed ahead of time; new tensors are copied."""
    x, weight, dy = tensors["x"], tensors.get("weight"), tensors["dy"]
    shape, eps = problem.normalized_shape, problem.scalars["eps"]
    if problem.centered:
        bias = torch.zeros_like(x[0], dtype=x.dtype if weight is None else weight.dtype) if problem.bias else None
        _, mean, rstd = torch.native_layer_norm(x, shape, weight, bias, eps)
        wanted = [True, problem.weight, problem.bias]

        def gradients() -> Any:
            return torch.ops.aten.native_layer_norm_backward(dy, x, shape, mean, rstd, weight, bias, wanted)

    else:
        inputs = [one.detach().requires_grad_() for one in (x, weight) if one is not None]
        y = torch.nn.functional.rms_norm(inputs[0], shape, *inputs[1:], eps=eps)

        def gradients() -> Any:
            return torch.autograd.grad(y, inputs, dy, retain_graph=True)

    def compute() -> None:
        for name, result in zip(("dx", "dw", "db"), gradients(), strict=False):
            if name in tensors:
                tensors[name].copy_(result)

    return compute


def _formulas(torch: Any, problem: NormBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """What autograd gives PyTorch's compiler for the backward pass, which has the statistics of the forward pass."""
    x, weight, dy = tensors["x"], tensors.get("weight"), tensors["dy"]
    mean = x.float().mean(-1, True) if problem.centered else 0.0
    rstd = ((x.float() - mean).square().mean(-1, True) + problem.scalars["eps"]).rsqrt()

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
    "torch": TorchCall("torch.native_layer_norm_backward, or autograd of torch.nn.functional.rms_norm", _gradients),
    "compile": compiled(TorchCall("the formulas of the backward pass", _formulas)),
}
