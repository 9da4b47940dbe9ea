"""Train a transformer whose norms, RoPE, attention, SwiGLU, dropout and loss are autotune's, and one of PyTorch's own.

They learn to sort: random letters and a bar are followed by the same letters in order. Both start from the same weights
and see the same letters. Without dropout their losses agree at every step. With dropout, whose random numbers differ,
they end near the same loss.

    python examples/torch_transformer.py                  # on a GPU, in less than a minute
    python examples/torch_transformer.py --compile        # with dropout, under torch.compile
    python examples/torch_transformer.py --device cpu     # tiny, for a few steps: our kernels run in the emulator
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

import autotune.torch as ours

LETTERS = 26
NOT_PREDICTED = -100


class Operators(NamedTuple):
    """What the two transformers differ in."""

    norm: Any
    rope: Any
    swiglu: Any
    attention: Any
    dropout: Any
    loss: Any


def _rotated(x: Tensor) -> Tensor:
    """Halves of heads, turned by the angles of their places."""
    a, b = x.chunk(2, -1)
    places, half = torch.arange(x.shape[1], device=x.device), torch.arange(a.shape[-1], device=x.device)
    angles = places[:, None, None] * 10000.0 ** (-half / a.shape[-1])
    return torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), -1)


def _causal(attention: Any) -> Any:
    """Attention of q, k and v, (batch, heads, places, elements), to earlier places, in half precision."""

    def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mixed: Tensor = attention(q.half(), k.half(), v.half(), is_causal=True)
        return mixed.to(q.dtype)

    return attend


def _mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """The mean over targets that are predicted; our losses of others are 0."""
    losses = ours.cross_entropy(logits, targets, ignore_index=NOT_PREDICTED)
    return losses.sum() / (targets != NOT_PREDICTED).sum()


def _swiglu(x: Tensor) -> Tensor:
    gates, factors = x.chunk(2, -1)
    return functional.silu(gates) * factors


OPERATORS = {
    "PyTorch": Operators(
        norm=lambda x, weight: functional.rms_norm(x, weight.shape, weight, eps=1e-6),
        rope=lambda q, k: (_rotated(q), _rotated(k)),
        swiglu=_swiglu,
        attention=_causal(functional.scaled_dot_product_attention),
        dropout=lambda x, p, place, step, residual: functional.dropout(x, p) + residual,
        loss=partial(functional.cross_entropy, ignore_index=NOT_PREDICTED),
    ),
    "autotune": Operators(
        norm=lambda x, weight: ours.rms_norm(x, weight.shape, weight),
        rope=ours.rope,
        swiglu=ours.swiglu,
        attention=_causal(ours.scaled_dot_product_attention),
        # The kernel adds `step`, which is on the device: compiled programs and graphs drop other elements each time.
        dropout=lambda x, p, place, step, residual: ours.dropout(x, p, 0, place, residual=residual, state=step),
        loss=_mean_loss,
    ),
}


@dataclass(frozen=True)
class Sizes:
    """Sizes of a transformer and of its training."""

    width: int = 256
    heads: int = 4
    depth: int = 2
    letters: int = 32
    batch: int = 64
    steps: int = 200


# PyTorch's two seeds show how much the losses depend on what is dropped.
RUNS = [("PyTorch", 0.0, 0), ("autotune", 0.0, 0), ("PyTorch", 0.1, 0), ("PyTorch", 0.1, 1), ("autotune", 0.1, 0)]
SIZES = {"cuda": Sizes(), "cpu": Sizes(width=16, heads=2, depth=1, letters=4, batch=2, steps=3)}


class Block(torch.nn.Module):
    """Attention to earlier places and a gated layer, each added to its input."""

    def __init__(self, do: Operators, sizes: Sizes, dropout: float, index: int) -> None:
        super().__init__()
        self.do, self.heads, self.dropout, self.index = do, sizes.heads, dropout, index
        width, hidden = sizes.width, 3 * sizes.width
        self.norms = torch.nn.ParameterList(torch.ones(width) for _ in range(2))
        self.qkv, self.mixed = linear(width, 3 * width), linear(width, width)
        self.gates, self.gated = linear(width, 2 * hidden), linear(hidden, width)

    def forward(self, x: Tensor, step: Tensor) -> Tensor:
        """The block's result for `x` of shape (batch, places, width)."""
        do = self.do
        q, k, v = self.qkv(do.norm(x, self.norms[0])).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k, v = (heads.transpose(1, 2) for heads in (*do.rope(q, k), v))
        mixed = self.mixed(do.attention(q, k, v).transpose(1, 2).flatten(2))
        x = do.dropout(mixed, self.dropout, 2 * self.index, step, x)
        gated = self.gated(do.swiglu(self.gates(do.norm(x, self.norms[1]))))
        return do.dropout(gated, self.dropout, 2 * self.index + 1, step, x)


class Transformer(torch.nn.Module):
    """Predicts letters from those before."""

    def __init__(self, do: Operators, sizes: Sizes, dropout: float) -> None:
        super().__init__()
        self.do = do
        self.embedding = torch.nn.Embedding(LETTERS + 1, sizes.width)
        self.blocks = torch.nn.ModuleList(Block(do, sizes, dropout, index) for index in range(sizes.depth))
        self.norm = torch.nn.Parameter(torch.ones(sizes.width))
        self.logits = linear(sizes.width, LETTERS + 1)

    def forward(self, letters: Tensor, following: Tensor, step: Tensor) -> Tensor:
        """The mean loss of the letters that follow others; both of shape (batch, places)."""
        x = self.embedding(letters)
        for block in self.blocks:
            x = block(x, step)
        logits = self.logits(self.do.norm(x, self.norm))
        return self.do.loss(logits.flatten(0, 1), following.flatten())


linear = partial(torch.nn.Linear, bias=False)


def batches(sizes: Sizes, device: str) -> Iterator[tuple[Tensor, Tensor]]:
    """The letters of each step, and what follows them."""
    random = torch.Generator(device).manual_seed(0)
    bar = torch.full((sizes.batch, 1), LETTERS, device=device)
    for _ in range(sizes.steps):
        letters = torch.randint(LETTERS, (sizes.batch, sizes.letters), generator=random, device=device)
        row = torch.cat((letters, bar, letters.sort().values), 1)
        following = row[:, 1:].clone()
        following[:, : sizes.letters] = NOT_PREDICTED
        yield row[:, :-1], following


class Training(NamedTuple):
    """The loss of each step, and the seconds of one of the second half."""

    losses: Tensor
    seconds: float

    @property
    def last_loss(self) -> float:
        """The mean of the last twentieth."""
        return float(self.losses[-len(self.losses) // 20 :].mean())


def train(do: Operators, device: str, dropout: float, seed: int, compiled: bool) -> Training:
    """Train from the weights of seed 0; `seed` is that of dropout."""
    sizes = SIZES[device]
    torch.manual_seed(0)
    model = Transformer(do, sizes, dropout).to(device)
    compute = torch.compile(model, fullgraph=True) if compiled else model
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    torch.manual_seed(seed)
    step = torch.tensor([seed << 32, 0], device=device)
    losses: list[Tensor] = []
    for letters, following in batches(sizes, device):
        if len(losses) == sizes.steps // 2:
            start = now(device)
        loss = compute(letters, following, step)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        step += 1
        losses.append(loss.detach())
    return Training(torch.stack(losses), (now(device) - start) / (sizes.steps - sizes.steps // 2))


def now(device: str) -> float:
    """Seconds, when the device has done its work."""
    if device == "cuda":
        torch.cuda.synchronize()
    return perf_counter()


def main(arguments: list[str] | None = None) -> dict[tuple[str, float, int], Training]:
    """Train, and print a table; trainings by operators, dropout and seed."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--device", choices=SIZES, default="cuda", help="where tensors are")
    parser.add_argument("--compile", action="store_true", help="train with dropout alone, under torch.compile")
    options = parser.parse_args(arguments)
    found = {}
    print("operators  dropout  seed  first loss  last loss  ms a step")
    for name, dropout, seed in RUNS:
        if options.compile and not dropout:
            continue  # to compile takes longer than to train
        found[name, dropout, seed] = run = train(OPERATORS[name], options.device, dropout, seed, options.compile)
        first, milliseconds = float(run.losses[0]), run.seconds * 1e3
        print(f"{name:9}  {dropout:7}  {seed:4}  {first:10.5f}  {run.last_loss:9.5f}  {milliseconds:9.2f}")
    return found


if __name__ == "__main__":
    main()
