"""What calls of ``autotune.torch`` cost the host, and with the GPU's work, beside PyTorch's own."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from .baseline import Launcher
from .interleave import interleaved

OWN, PYTORCH = "autotune", "torch"
_CALLS = 20  # calls of a sample: the driver holds about a thousand launches before it makes callers wait


class Case(NamedTuple):
    """A call of ours and what of PyTorch's computes the same.

    Attributes:
        name: for people.
        calls: by contender.
        tensors: those that get a gradient.
    """

    name: str
    calls: dict[str, Callable[[], Any]]
    tensors: Sequence[Any]


class Cost(NamedTuple):
    """Median seconds of a call: until it returns, and until the GPU has done its work."""

    host: float
    whole: float


@dataclass(frozen=True)
class MeasuredCall:
    """What was measured of a case.

    Attributes:
        case, tokens: which one.
        mode: ``no_grad``, ``forward``, which records the call, or ``step``, which differentiates it, too.
        costs: by contender.
    """

    case: str
    tokens: int
    mode: str
    costs: dict[str, Cost]


def missing() -> str:
    """What this machine lacks for the measurement, in one line; empty if nothing."""
    try:
        import torch
    except ImportError:
        return "calls of PyTorch are not measured without PyTorch with CUDA: pip install torch"
    return "" if torch.cuda.is_available() else "calls of PyTorch are not measured: PyTorch finds no GPU"


def torch_calls(tokens: Sequence[int], features: int, device: str, rounds: int) -> Iterator[MeasuredCall]:
    """The costs of each case in BF16, contenders in turns, `rounds` samples each.

    Garbage is collected between the cases alone.
    """
    import torch

    def synchronize() -> None:
        if device != "cpu":
            torch.cuda.synchronize()

    def sample(call: Launcher) -> Cost:
        synchronize()
        begin = perf_counter()
        for _ in range(_CALLS):
            call()
        queued = perf_counter()
        synchronize()
        return Cost((queued - begin) / _CALLS, (perf_counter() - begin) / _CALLS)

    def costs(calls: dict[str, Launcher]) -> dict[str, Cost]:
        gc.collect()
        gc.disable()
        try:
            taken = interleaved(calls, sample, rounds)
        finally:
            gc.enable()
        return {name: Cost(*map(median, zip(*samples, strict=True))) for name, samples in taken.items()}

    for count in tokens:
        for case in _cases(torch, count, features, device):
            with torch.no_grad():
                yield MeasuredCall(case.name, count, "no_grad", costs(case.calls))
            yield MeasuredCall(case.name, count, "forward", costs(case.calls))
            steps = {name: _step(torch, call, case.tensors) for name, call in case.calls.items()}
            yield MeasuredCall(case.name, count, "step", costs(steps))


def _step(torch: Any, call: Callable[[], Any], tensors: Sequence[Any]) -> Launcher:
    """A call and its backward pass, whose gradients are new as those of a training step are."""

    def outputs() -> tuple[Any, ...]:
        returned = call()
        return returned if isinstance(returned, tuple) else (returned,)

    gradients = [torch.ones_like(output) for output in outputs()]

    def step() -> None:
        for tensor in tensors:
            tensor.grad = None
        torch.autograd.backward(outputs(), gradients)

    return step


def _cases(torch: Any, tokens: int, features: int, device: str) -> Iterator[Case]:
    from autotune import torch as ours

    plain, heads, dim = torch.nn.functional, max(1, features // 128), min(features, 128)

    def tensor(*shape: int) -> Any:
        return torch.randn(*shape, device=device).bfloat16().requires_grad_()

    x, weight, bias, wide = tensor(tokens, features), tensor(features), tensor(features), tensor(tokens, 2 * features)
    q, k = tensor(1, tokens, heads, dim), tensor(1, tokens, max(1, heads // 4), dim)
    targets = torch.zeros(tokens, dtype=torch.int64, device=device)
    angles = torch.rand(1, tokens, 1, dim // 2, device=device)
    cos, sin = angles.cos(), angles.sin()

    def rotated(heads: Any) -> Any:
        a, b = heads.float().chunk(2, -1)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1).to(heads.dtype)

    def gated(pair: Any) -> Any:
        gates, factors = pair.chunk(2, -1)
        return plain.silu(gates) * factors

    def case(name: str, own: Callable[[], Any], other: Callable[[], Any], *tensors: Any) -> Case:
        return Case(name, {OWN: own, PYTORCH: other}, tensors)

    def linear(name: str, bias: bool) -> Case:
        own, other = (
            layer(features, features, bias=bias, dtype=x.dtype, device=device)
            for layer in (ours.Linear, torch.nn.Linear)
        )
        return case(name, lambda: own(x), lambda: other(x), x, *own.parameters(), *other.parameters())

    shape = (features,)
    yield linear("linear", False)
    yield linear("linear with a bias", True)
    yield case("rms_norm", lambda: ours.rms_norm(x, shape, weight), lambda: plain.rms_norm(x, shape, weight), x, weight)
    yield case(
        "layer_norm",
        lambda: ours.layer_norm(x, shape, weight, bias),
        lambda: plain.layer_norm(x, shape, weight, bias),
        *(x, weight, bias),
    )
    yield case("softmax", lambda: ours.softmax(x), lambda: plain.softmax(x, -1), x)
    yield case(
        "cross_entropy",
        lambda: ours.cross_entropy(x, targets),
        lambda: plain.cross_entropy(x, targets, reduction="none"),
        x,
    )
    yield case("reduce", lambda: ours.reduce(x, "sum", -1), lambda: x.sum(-1), x)
    yield case("rope", lambda: ours.rope(q, k), lambda: (rotated(q), rotated(k)), q, k)
    yield case("swiglu", lambda: ours.swiglu(wide), lambda: gated(wide), wide)
    yield case("gelu", lambda: ours.gelu(x), lambda: plain.gelu(x), x)
    yield case("dropout", lambda: ours.dropout(x, 0.1, 3), lambda: plain.dropout(x, 0.1), x)
    yield case("transpose", lambda: ours.transpose(x), lambda: x.mT.contiguous(), x)
