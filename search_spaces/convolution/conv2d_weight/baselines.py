"""What users would call instead of conv2d_weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.search_spaces.contract.baselines import TorchCall
from autotune.search_spaces.convolution.conv2d.baselines import by_cudnn


def _gradient(torch: Any, problem: Conv2dWeightProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """The call that autograd makes, on channels-last images."""
    x, grad, d = (tensors[name].permute(0, 3, 1, 2) for name in ("x", "grad", "d"))
    alpha, backward = problem.scalars["alpha"], torch.ops.aten.convolution_backward
    geometry = (problem.stride, problem.padding, problem.dilation, False, (0, 0), problem.groups)

    def compute() -> None:
        with by_cudnn(torch, problem):
            _, found, _ = backward(grad, x, d, None, *geometry, (False, True, False))
        d.copy_(found * alpha)

    return compute


BASELINES = {
    "cudnn": TorchCall("the gradient of torch.nn.functional.conv2d, by the fastest algorithm of cuDNN", _gradient),
}
