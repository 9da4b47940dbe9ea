"""What users would call instead of conv2d_input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.search_spaces.contract.baselines import TorchCall
from autotune.search_spaces.convolution.conv2d.baselines import by_cudnn


def _gradient(torch: Any, problem: Conv2dInputProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """The call that autograd makes, on channels-last images."""
    grad, weight, d = (tensors[name].permute(0, 3, 1, 2) for name in ("grad", "weight", "d"))
    alpha, backward = problem.scalars["alpha"], torch.ops.aten.convolution_backward
    geometry = (problem.stride, problem.padding, problem.dilation, False, (0, 0), problem.groups)

    def compute() -> None:
        with by_cudnn(torch, problem):
            found, _, _ = backward(grad, d, weight, None, *geometry, (True, False, False))
        d.copy_(found * alpha)

    return compute


BASELINES = {
    "cudnn": TorchCall("the gradient of torch.nn.functional.conv2d, by the fastest algorithm of cuDNN", _gradient),
}
