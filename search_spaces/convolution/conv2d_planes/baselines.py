"""What users would call instead of conv2d_planes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.convolution.conv2d_planes.problem import Conv2dPlanesProblem
from autotune.search_spaces.contract.baselines import TorchCall
from autotune.search_spaces.convolution.conv2d.baselines import called


def _convolution(torch: Any, problem: Conv2dPlanesProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    return called(torch, problem, tensors)


BASELINES = {
    "cudnn": TorchCall(
        "torch.nn.functional.conv2d of contiguous images, by the fastest algorithm of cuDNN", _convolution
    ),
}
