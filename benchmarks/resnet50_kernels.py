"""The kernels of autotune that `resnet50.py` measures, compiled on all CPUs before it calls them.

    python benchmarks/resnet50_kernels.py BATCH

It is a process of its own: those that compile import its main module, and PyTorch takes seconds to import.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.conv2d_input.problem import Conv2dInputProblem
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Problem
from autotune.devices.select import selected_spec
from autotune.dispatcher.calls.warming import compile_ahead
from autotune.dispatcher.choice.records import records
from autotune.search_spaces.contract.registry import operator

_RELU = {"bias": Bias.ROW, "activation": Activation.RELU}
_FUSED: dict[str, dict[str, Any]] = {  # to each convolution of a block, by its name
    "conv1": _RELU,
    "conv2": _RELU,
    "conv3": {"bias": Bias.ROW, "residual": True},
    "downsample": {"bias": Bias.ROW},
}


def problems(batch: int) -> dict[str, list[Problem]]:
    """By operator, each once: convolutions and their gradients, and convolutions with what is fused to them."""
    found: dict[str, dict[Problem, None]] = {"conv2d": {}, "conv2d_input": {}, "conv2d_weight": {}}
    for name, sizes in _convolutions(batch):
        found["conv2d"][Conv2dProblem(**sizes)] = None
        found["conv2d"][Conv2dProblem(**sizes, **_FUSED[name])] = None
        found["conv2d_weight"][Conv2dWeightProblem(**sizes)] = None
        if sizes["in_channels"] > 3:  # images have no gradient
            found["conv2d_input"][Conv2dInputProblem(**sizes)] = None
    return {name: list(some) for name, some in found.items()}


def _convolutions(batch: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The names and sizes of ResNet-50's convolutions; of each stage's blocks, those of the first two."""

    def sizes(channels: int, filters: int, side: int, taps: int, stride: int) -> dict[str, Any]:
        sides = {"kernel": taps, "stride": stride, "padding": taps // 2}
        each = {f"{name}_{axis}": value for name, value in sides.items() for axis in "hw"}
        images = {"batch": batch, "in_channels": channels, "height": side, "width": side}
        return {**images, "out_channels": filters, **each, "dtype": DType.BFLOAT16}

    yield "conv1", sizes(3, 64, 224, 7, 2)
    channels, side = 64, 56
    for width, first_stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for stride in (first_stride, 1):
            yield "conv1", sizes(channels, width, side, 1, 1)
            yield "conv2", sizes(width, width, side, 3, stride)
            if channels != 4 * width:
                yield "downsample", sizes(channels, 4 * width, side, 1, stride)
            channels, side = 4 * width, side // stride
            yield "conv3", sizes(width, channels, side, 1, 1)


def main() -> None:
    """Compile them into the cache."""
    spec, count = selected_spec("auto"), 0
    for name, some in problems(int(sys.argv[1])).items():
        count += sum(1 for _ in compile_ahead(operator(name), some, spec, lambda one: records(one, spec)))
    print(f"{count} kernels for {spec.name}", flush=True)


if __name__ == "__main__":
    main()
