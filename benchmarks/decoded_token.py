"""Measure a token of a Llama of transformers with random weights and a full cache, by one CUDA graph.

The model has 8 layers of 2048 features and a vocabulary of 128256, each sequence 4095 tokens and room for 4224.
Contenders are

- own: its own layers, a `StaticCache` and PyTorch's `scaled_dot_product_attention`;
- patched: the same after `autotune.transformers.patch`, with its attention;
- example: its own layers with the cache of examples/cached_decoding.py;
- sliced: patched, with PyTorch's attention of as many keys as there are, which no graph could follow.

    python benchmarks/decoded_token.py result.json 1 32

Needs PyTorch with CUDA, and transformers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers
from torch.nn.functional import scaled_dot_product_attention

import autotune.transformers as ours

sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
from cached_decoding import Decoder, captured

CONTEXT, ROOM = 4096, 4224
ROUNDS, WARM = 30, 3
SIZES = {
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 8,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def contender(name: str) -> Any:
    """The model, its own or patched."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES)).bfloat16().eval()
    if name == "patched":
        ours.patch(model)
    return model


def seconds(run: Callable[[], Any]) -> float:
    """Of one run, between events."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000


class Static:
    """A model that keeps all keys and values in a `StaticCache`."""

    def __init__(self, model: Any, batch: int, attention: str) -> None:
        self.model, self.lengths = model, torch.zeros(1)
        self.cache = transformers.StaticCache(config=model.config, max_cache_len=ROOM)
        model.set_attn_implementation(attention)
        self(torch.zeros((batch, 1), dtype=torch.long, device="cuda"))  # allocates
        self.caches = [(layer.keys.transpose(1, 2), layer.values.transpose(1, 2)) for layer in self.cache.layers]

    def __call__(self, token: Any) -> Any:
        """The next token of each sequence."""
        return self.model(input_ids=token, past_key_values=self.cache).logits[:, -1:].argmax(-1)

    def rewind(self) -> None:
        """All sequences have one token less than the context."""
        for layer in self.cache.layers:
            layer.cumulative_length.fill_(CONTEXT - 1)


class Example(Decoder):
    """The example's decoder."""

    def rewind(self) -> None:
        """See `Static`."""
        self.lengths.fill_(CONTEXT - 1)


def sliced(module: Any, query: Any, key: Any, value: Any, mask: Any, scaling: Any = None, **options: Any) -> Any:
    """PyTorch's attention of the first keys of a cache."""
    k, v = key[:, :, :CONTEXT], value[:, :, :CONTEXT]
    o = scaled_dot_product_attention(query, k, v, scale=scaling, enable_gqa=True)
    return o.transpose(1, 2).contiguous(), None


@contextmanager
def decoders(models: dict[str, Any], name: str, batch: int) -> Iterator[Any]:
    """That of a contender."""
    if name == "example":
        models["own"].set_attn_implementation("sdpa")
        with Example(models["own"], batch, ROOM).serving() as decoder:
            yield decoder
        return
    attention = {"own": "sdpa", "patched": "autotune", "sliced": "sliced"}[name]
    with nullcontext(Static(models["own" if name == "own" else "patched"], batch, attention)) as decoder:
        yield decoder


def fill(caches: Any) -> None:
    """The same random keys and values for each contender."""
    random = torch.Generator("cuda").manual_seed(0)
    for layer in caches:
        for cache in layer:
            cache.copy_(torch.randn(cache.shape, generator=random, dtype=cache.dtype, device="cuda"))


def measured(decoder: Any, batch: int) -> tuple[float, list[int]]:
    """The median of a token's seconds, and the tokens of the first step."""
    fill(decoder.caches)
    token = torch.zeros((batch, 1), dtype=torch.long, device="cuda")
    decoder.rewind()
    step: Callable[[], Any] = captured(decoder, token)
    decoder.rewind()
    token.zero_()
    step()
    first = token.flatten().tolist()
    for _ in range(WARM):
        step()
    return median(seconds(step) for _ in range(ROUNDS)), first


@torch.no_grad()
def main(path: Path, batches: list[int]) -> None:
    """Write the medians, and print them as a table."""
    transformers.AttentionInterface.register("sliced", sliced)
    transformers.AttentionMaskInterface.register("sliced", lambda **options: None)
    models = {name: contender(name) for name in ("own", "patched")}
    config = models["own"].config
    read = sum(one.nbytes for one in models["own"].parameters()) - models["own"].model.embed_tokens.weight.nbytes
    of_key = 2 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim * 2
    runs = []
    for batch in batches:
        for name in ("own", "patched", "example", "sliced"):
            with decoders(models, name, batch) as decoder:
                took, tokens = measured(decoder, batch)
            runs.append({"batch": batch, "contender": name, "seconds": took, "tokens": tokens})
            print(
                f"batch {batch:3} {name:8} {1e6 * took:8.1f} us, {(read + batch * CONTEXT * of_key) / 1e9:.3f} GB",
                flush=True,
            )
    environment = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    sizes = {**SIZES, "context": CONTEXT, "room": ROOM, "weight_bytes": read, "bytes_of_key": of_key}
    path.write_text(json.dumps({"environment": environment, "sizes": sizes, "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(one) for one in sys.argv[2:]])
