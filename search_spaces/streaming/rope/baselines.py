"""What users would call instead of rope."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.streaming.rope.problem import Angles, Positions, RopeProblem, frequencies
from autotune.search_spaces.contract.baselines import TorchCall, compiled


def _rope(torch: Any, problem: RopeProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """In float32, by sines and cosines that were made ahead of time, as models do for all of their layers."""
    half, rotated = problem.rotated // 2, problem.rotated
    cosines, sines = _turns(torch, problem, tensors)

    def turned(x: Any) -> Any:
        numbers = x[..., :rotated].float()
        if problem.interleaved:
            a, b = numbers[..., 0::2], numbers[..., 1::2]
            pairs = torch.stack((a * cosines - b * sines, a * sines + b * cosines), -1).flatten(-2)
        else:
            a, b = numbers[..., :half], numbers[..., half:]
            pairs = torch.cat((a * cosines - b * sines, a * sines + b * cosines), -1)
        pairs = pairs.to(x.dtype)
        return pairs if rotated == problem.head_dim else torch.cat((pairs, x[..., rotated:]), -1)

    def compute() -> Mapping[str, Any]:
        return {"r": turned(tensors["q"]), "s": turned(tensors["k"])}

    return compute


def _turns(torch: Any, problem: RopeProblem, tensors: Mapping[str, Any]) -> tuple[Any, Any]:
    """Cosine and sine for each token and pair, of shape (tokens, 1, pairs)."""
    device, half, scalars = tensors["q"].device, problem.rotated // 2, problem.scalars
    if problem.positions is Positions.OFFSET:
        positions = torch.arange(problem.places, device=device) + int(scalars["offset"])
    else:
        positions = tensors["positions"].to(torch.int64)
    positions = positions.repeat(problem.batch // max(1, problem.places) + 1)[: problem.batch]
    if problem.angles is Angles.TABLE:
        rows = tensors["table"][positions]
        cosines, sines = rows[:, None, :half], rows[:, None, half:]
    else:
        steps = torch.tensor(frequencies(problem.rotated, scalars), device=device)
        angles = positions[:, None, None] * steps
        cosines, sines = angles.cos().float(), angles.sin().float()
    return cosines, -sines if problem.conj else sines


_EAGER = TorchCall("products and sums in float32, of q and of k", _rope)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _EAGER, "compile": compiled(_EAGER)}
