"""What users would call instead of softmax_backward."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.search_spaces.contract.baselines import TorchCall, compiled


def _gradient(torch: Any, problem: SoftmaxBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """What autograd calls for a temperature of 1."""
    y, dy, dx, aten = tensors["y"], tensors["dy"], tensors["dx"], torch.ops.aten
    if problem.log:
        return partial(aten._log_softmax_backward_data.out, dy, y, -1, y.dtype, out=dx)
    return partial(aten._softmax_backward_data.out, dy, y, -1, y.dtype, grad_input=dx)


def _formula(torch: Any, problem: SoftmaxBackwardProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """What PyTorch's compiler makes of the same."""
    y, dy, dx = tensors["y"], tensors["dy"], tensors["dx"]

    def compute() -> None:
        result, gradient = y.float(), dy.float()
        if problem.log:
            dx.copy_(gradient - result.exp() * gradient.sum(-1, True))
        else:
            dx.copy_(result * (gradient - (result * gradient).sum(-1, True)))

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("torch.ops.aten._softmax_backward_data or _log_softmax_backward_data", _gradient),
    "compile": compiled(TorchCall("the formula of the gradient", _formula)),
    "liger": "bench.baselines.rows.liger:SOFTMAX_BACKWARD",
    "quack": "bench.baselines.rows.quack:SOFTMAX_BACKWARD",
}
