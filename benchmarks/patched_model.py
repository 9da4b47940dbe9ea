"""Measure models of transformers with random weights: their own, compiled, patched, and both.

A step is the loss and its gradients, without an optimizer, in bfloat16; steps follow each other, as in training.
Attention is PyTorch's where it is not ours, by cuDNN as far as that takes it. A token is one of one sequence, with 512
of 1024 keys in a static cache, as a CUDA graph. Each contender has a process of its own. They prepare at the same time,
and then take turns: while one measures, nothing else uses the GPU. Times are medians, memory is the most that PyTorch
held in a step beyond the parameters.

    python benchmarks/patched_model.py result.json Llama Qwen3=own,patched Gemma3=own,patched Bert=own,patched

Needs PyTorch with CUDA, and transformers.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch
import transformers
from torch.nn.attention import SDPBackend, sdpa_kernel

from autotune.base.worker import Worker

ROUNDS, STEPS, TOKENS = 4, 4, 15
KEYS, PLACES = 512, 1024
ATTENTION = [
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
]
KINDS = ("own", "compiled", "patched", "patched and compiled")


@dataclass(frozen=True)
class Family:
    """A model and its input.

    Attributes:
        model: the class's name.
        fields: of its configuration.
        shape: sequences, and tokens of each.
        decodes: whether a decoding step is measured, too.
    """

    model: str
    fields: dict[str, Any]
    shape: tuple[int, int]
    decodes: bool = False


def _decoder(
    hidden: int, intermediate: int, heads: int, heads_kv: int, vocabulary: int, **others: int
) -> dict[str, int]:
    return {
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": 8,
        "num_attention_heads": heads,
        "num_key_value_heads": heads_kv,
        "vocab_size": vocabulary,
    } | others


FAMILIES = {
    "Llama": Family("LlamaForCausalLM", _decoder(2048, 8192, 32, 8, 128256), (2, 2048), True),
    "Qwen3": Family("Qwen3ForCausalLM", _decoder(1024, 3072, 16, 8, 151936, head_dim=128), (2, 2048), True),
    "Gemma3": Family("Gemma3ForCausalLM", _decoder(1152, 6912, 4, 1, 262144, head_dim=256), (2, 1024)),
    "Bert": Family("BertForMaskedLM", {}, (16, 512)),
}


class Contender:
    """A model of one kind, in a process of its own."""

    def __init__(self, family: Family, kind: str) -> None:
        self._family, self._kind = family, kind

    def prepare(self) -> None:
        """Make it, and do its first step."""
        torch.manual_seed(0)
        family, kind = self._family, self._kind
        model = getattr(transformers, family.model)
        with torch.device("cuda"):
            self._model = model(model.config_class(**family.fields)).bfloat16()
            self._tokens = torch.randint(0, self._model.config.vocab_size, family.shape)
        start = perf_counter()
        if "patched" in kind:
            import autotune.transformers as ours

            print(f"{family.model}:\n{ours.patch(self._model)}", flush=True)
        self._run = torch.compile(self._model) if "compiled" in kind else self._model
        self.loss = float(self._step().detach())
        self.first_step = perf_counter() - start
        self._step()  # for which a compiler may compile again
        self._replay = self._captured() if family.decodes and "compiled" not in kind else None
        self._rest()

    def facts(self) -> dict[str, float]:
        """The loss, the seconds of patching and the first step beside others, and GiB beyond the parameters."""
        held = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        self._step()
        torch.cuda.synchronize()
        gib = (torch.cuda.max_memory_allocated() - held) / 2**30
        self._rest()
        return {"loss": self.loss, "first_step": self.first_step, "gib": gib}

    def steps(self) -> list[float]:
        """The seconds of a step among some that follow each other."""
        self._step()

        def several() -> None:
            for _ in range(STEPS):
                self._step()

        found = _seconds(several) / STEPS
        self._rest()
        return [found]

    def tokens(self) -> list[float]:
        """The seconds of some tokens; none if the model does not decode."""
        replay = self._replay
        return [_seconds(replay) for _ in range(TOKENS)] if replay else []

    def _step(self) -> Any:
        self._forget()
        with sdpa_kernel(ATTENTION, set_priority=True):
            loss = self._run(input_ids=self._tokens, labels=self._tokens).loss
            loss.backward()
        return loss

    def _forget(self) -> None:
        for parameter in self._model.parameters():
            parameter.grad = None

    def _rest(self) -> None:
        """Leave the memory to others."""
        self._forget()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def _captured(self) -> Callable[[], None]:
        """A token, as a graph that starts from the same keys each time."""
        cache = transformers.StaticCache(config=self._model.config, max_cache_len=PLACES)
        prompt = self._tokens[:1, :KEYS]
        self._model(input_ids=prompt, past_key_values=cache)

        def token() -> None:
            for layer in cache.layers:
                layer.cumulative_length.fill_(KEYS)
            self._model(input_ids=prompt[:, :1], past_key_values=cache).logits[:, -1].argmax(-1)

        with torch.cuda.stream(torch.cuda.Stream()):
            token()
            torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            token()
        self._cache = cache  # whose addresses the graph has
        return graph.replay


def _seconds(run: Callable[[], Any]) -> float:
    """Of one run, between events."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000


def _started(family: Family, kind: str) -> Worker:
    worker = Worker(partial(Contender, family, kind))
    worker.call("prepare")
    return worker


def measure(workers: dict[str, Worker]) -> dict[str, dict[str, float]]:
    """What the contenders of a family take."""
    found = {kind: worker.call("facts") for kind, worker in workers.items()}
    for method, rounds in (("steps", ROUNDS), ("tokens", 2)):
        times: dict[str, list[float]] = {kind: [] for kind in workers}
        for _ in range(rounds):
            for kind, worker in workers.items():
                times[kind] += worker.call(method)
        for kind, some in times.items():
            if some:
                found[kind][method.removesuffix("s")] = median(some)
    return found


def main(path: Path, names: list[str]) -> None:
    """Write the medians of contenders, and print them as a table."""
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "4")  # of each contender
    kinds = {name: some.split(",") if some else KINDS for name, _, some in (one.partition("=") for one in names)}
    made = [(name, kind) for name in kinds for kind in kinds[name]]
    with ThreadPoolExecutor(len(made)) as pool:
        started = {one: pool.submit(_started, FAMILIES[one[0]], one[1]) for one in made}
    device = torch.cuda.get_device_name()
    environment = {"device": device, "torch": torch.__version__, "transformers": transformers.__version__}
    document: dict[str, Any] = {"environment": environment, "models": {}}
    print(f"{'':28} first step s  step ms    GiB  token ms   loss")
    for name in kinds:
        workers = {}
        for kind in kinds[name]:
            if error := started[name, kind].exception():
                print(f"{name} {kind}: {error}")
            else:
                workers[kind] = started[name, kind].result()
        runs = measure(workers)
        document["models"][name] = asdict(FAMILIES[name]) | {"runs": runs}
        path.write_text(json.dumps(document, indent=1) + "\n")
        for kind, one in runs.items():
            token = f"{1e3 * one['token']:9.3f}" if "token" in one else f"{'':9}"
            step = f"{one['first_step']:12.1f} {1e3 * one['step']:8.2f} {one['gib']:6.2f}"
            print(f"{f'{name} {kind}':28} {step} {token} {one['loss']:6.3f}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
