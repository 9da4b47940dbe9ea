"""What users would call instead of conv3d."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.convolution.conv3d.problem import Conv3dProblem
from autotune.search_spaces.contract.baselines import TorchCall
from autotune.search_spaces.convolution.conv2d.baselines import called


def _convolution(torch: Any, problem: Conv3dProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    images = {name: one if name == "bias" else one.permute(0, 4, 1, 2, 3) for name, one in tensors.items()}
    return called(torch, problem, images)


BASELINES = {
    "cudnn": TorchCall("torch.nn.functional.conv3d, channels last, by the fastest algorithm of cuDNN", _convolution),
}
