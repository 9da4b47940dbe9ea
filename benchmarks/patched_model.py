"""Measure a Llama of transformers with random weights: its own, compiled, patched, and both.

A step is the loss, its gradients, and no optimizer. The model has 8 layers, 2048 features, a vocabulary of 128256 and 2
sequences of 2048 tokens, in bfloat16; attention is PyTorch's by cuDNN where it is not ours. Contenders are taken in
turns; times are medians, memory is the most that PyTorch held in a step beyond the parameters.

    python benchmarks/patched_model.py result.json own compiled patched "patched and compiled"

Needs PyTorch with CUDA, and transformers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers
from torch.nn.attention import SDPBackend, sdpa_kernel

import autotune.transformers as ours

ROUNDS, WARM = 20, 3
TOKENS = (2, 2048)
SIZES = {
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 8,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def contender(name: str) -> Any:
    """The model, its own or patched, compiled or not."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)).bfloat16()
    if "patched" in name:
        print(ours.patch(model))
    return torch.compile(model) if "compiled" in name else model


def forward(model: Any, tokens: Any) -> Any:
    """Logits, without gradients."""
    with torch.no_grad(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return model(input_ids=tokens).logits


def step(model: Any, tokens: Any) -> Any:
    """The loss and its gradients."""
    for parameter in model.parameters():
        parameter.grad = None
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
    return loss


def seconds(run: Callable[[], Any]) -> float:
    """Of one run, between events."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000


def main(path: Path, names: list[str]) -> None:
    """Write the medians of contenders, and print them as a table."""
    tokens = torch.randint(0, SIZES["vocab_size"], TOKENS, device="cuda")
    runs: dict[str, dict[str, Callable[[], Any]]] = {}
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        model = contender(name)
        runs[name] = {"forward": partial(forward, model, tokens), "step": partial(step, model, tokens)}
        held = torch.cuda.memory_allocated()
        print(f"{name}: its first step", flush=True)
        loss = float(step(model, tokens).detach())
        for run in runs[name].values():
            for _ in range(WARM):
                run()
        torch.cuda.reset_peak_memory_stats()
        step(model, tokens)
        for parameter in model.parameters():
            parameter.grad = None
        found[name] = {"loss": loss, "gib": (torch.cuda.max_memory_allocated() - held) / 2**30}
    for what in ("forward", "step"):
        times: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(ROUNDS):
            for name in runs:
                times[name].append(seconds(runs[name][what]))
        for name in runs:
            found[name][what] = median(times[name])
    environment = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    path.write_text(json.dumps({"environment": environment, "sizes": SIZES, "runs": found}, indent=1) + "\n")
    print(f"{'':22} forward ms  step ms    GiB   loss")
    for name, one in found.items():
        print(f"{name:22} {1e3 * one['forward']:10.2f} {1e3 * one['step']:8.2f} {one['gib']:6.2f} {one['loss']:6.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
