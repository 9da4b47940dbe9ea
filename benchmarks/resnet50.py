"""ResNet-50 of torchvision with random weights in bfloat16, channels_last, by PyTorch's convolutions and by autotune's.

    python benchmarks/resnet50.py RESULTS [BATCH…] [--compile] [--seconds N]

Writes microseconds of a forward pass and of a training step, by calls and as a captured graph, and how far logits are
from those of float64, as JSON. `--compile` measures torch.compile besides. For inference, batch norms are folded into
convolutions on both sides ("folded"); by autotune their activations and residuals are fused to them, too. What a later
part would begin behind N seconds is left out. autotune's kernels are compiled ahead, for their shapes.
"""

from __future__ import annotations

import argparse
import copy
import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import torch
import torchvision
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

import autotune.torch as own

_REPEATS, _CALLS, _LEARNING_RATE = 7, 5, 1e-3


def replaced(model: nn.Module) -> nn.Module:
    """A copy of the model with autotune's convolutions."""
    model = copy.deepcopy(model)
    for name, layer in list(model.named_modules()):
        if isinstance(layer, nn.Conv2d):
            parent, _, last = name.rpartition(".")
            bias = layer.bias is not None
            mine = own.Conv2d(
                *(layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride, layer.padding),
                bias=bias,
                dtype=layer.weight.dtype,
                device=layer.weight.device,
            )
            mine.weight, mine.bias = layer.weight, layer.bias
            setattr(model.get_submodule(parent), last, mine)
    return model


def folded(model: nn.Module) -> nn.Module:
    """A copy of the model for inference, with batch norms folded into the convolutions ahead of them."""
    model = copy.deepcopy(model).eval()
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, nn.BatchNorm2d):
                ahead = "0" if name == "1" else name.replace("bn", "conv")  # downsample has both by numbers
                setattr(parent, ahead, fuse_conv_bn_eval(getattr(parent, ahead), layer))
                setattr(parent, name, nn.Identity())
    return model


class Fused(nn.Module):
    """A folded ResNet by `autotune.torch.conv2d`, with what follows a convolution fused to it."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Any) -> Any:
        """Logits of images."""
        model = self.model
        x = model.maxpool(_by_own(model.conv1, images, activation="relu"))
        for block in (*model.layer1, *model.layer2, *model.layer3, *model.layer4):
            beside = x if block.downsample is None else _by_own(block.downsample[0], x)
            x = _by_own(block.conv1, x, activation="relu")
            x = _by_own(block.conv2, x, activation="relu")
            x = _by_own(block.conv3, x, residual=beside).relu_()
        return model.fc(model.avgpool(x).flatten(1))


def _by_own(layer: nn.Conv2d, x: Any, **fused: Any) -> Any:
    return own.conv2d(x, layer.weight, layer.bias, layer.stride, layer.padding, **fused)


def microseconds(step: Callable[[], Any], calls: int = _CALLS) -> float:
    """The median time of a step, of several one behind the other."""
    found = []
    for _ in range(_REPEATS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(calls):
            step()
        end.record()
        end.synchronize()
        found.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(found)


def captured(step: Callable[[], Any]) -> Callable[[], Any]:
    """The step as a graph."""
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def training_step(model: nn.Module, images: Any, labels: Any) -> Callable[[], Any]:
    """Loss, gradients, and new weights."""
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=_LEARNING_RATE)

    def step() -> None:
        optimizer.zero_grad(set_to_none=False)
        nn.functional.cross_entropy(model(images).float(), labels).backward()
        optimizer.step()

    return step


def parts(batch: int, *, compiled: bool) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """What is measured of a batch size, by name."""
    torch.manual_seed(0)
    plain = torchvision.models.resnet50().cuda().eval()
    exact = copy.deepcopy(plain).double()
    plain = plain.bfloat16().to(memory_format=torch.channels_last)
    images = torch.rand(batch, 3, 224, 224, device="cuda").bfloat16().to(memory_format=torch.channels_last)
    labels = torch.randint(1000, (batch,), device="cuda")
    with torch.no_grad(), torch.backends.cudnn.flags(benchmark=False):
        truth = exact(images[:8].double())
    del exact
    without_norms = folded(plain)
    models = {"PyTorch": plain, "autotune": replaced(plain)}
    inference = {**models, "PyTorch, folded": without_norms, "autotune, folded": Fused(without_norms)}
    if compiled:
        inference["torch.compile, folded"] = torch.compile(without_norms)

    def forward(model: nn.Module) -> dict[str, Any]:
        with torch.no_grad():
            off = ((model(images)[:8].double() - truth).abs().max() / truth.abs().max()).item()
            calls = microseconds(lambda: model(images))
            return {"calls": calls, "graph": microseconds(captured(lambda: model(images))), "off": off}

    def training(model: nn.Module) -> dict[str, Any]:
        step = training_step(copy.deepcopy(model), images, labels)
        for _ in range(3):
            step()
        return {"calls": microseconds(step), "graph": microseconds(captured(step))}

    for name, model in inference.items():
        yield f"forward {batch}, {name}", lambda model=model: forward(model)  # type: ignore[misc]
    if compiled:
        models["torch.compile"] = torch.compile(plain)
    for name, model in models.items():
        yield f"training {batch}, {name}", lambda model=model: training(model)  # type: ignore[misc]


def main() -> None:
    """Measure one part after another, and write what is known so far."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("batches", type=int, nargs="*", default=[1, 64])
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    start = monotonic()
    torch.backends.cudnn.benchmark = True
    found: dict[str, Any] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for batch in given.batches:
        subprocess.run([sys.executable, Path(__file__).with_name("resnet50_kernels.py"), str(batch)], check=True)
        for name, measure in parts(batch, compiled=given.compile):
            if monotonic() - start > given.seconds:
                break
            try:
                found[name] = {key: round(value, 4) for key, value in measure().items()}
            except RuntimeError as error:
                found[name] = str(error)[:200]
            print(name, found[name], f"{monotonic() - start:.1f} s", flush=True)
            given.results.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
