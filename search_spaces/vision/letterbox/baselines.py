"""What users would call instead of letterbox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.vision.letterbox.problem import LetterboxProblem
from autotune.codegen.vision.letterbox.rule import Rule
from autotune.codegen.vision.letterbox.target import Order
from autotune.search_spaces.contract.baselines import NotTakenError, TorchCall, compiled

_MODES: Mapping[Rule, Mapping[str, Any]] = {
    Rule.AREA: {"mode": "area"},
    Rule.TRIANGLE: {"mode": "bilinear", "antialias": True},
    Rule.BICUBIC: {"mode": "bicubic", "antialias": True},
}


def _letterbox(torch: Any, problem: LetterboxProblem, tensors: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    """PyTorch resizes in float32, and pads then. Its areas are whole pixels."""
    images, place, scalars = tensors["images"], problem.place, problem.scalars
    if not place.height:
        raise NotTakenError("PyTorch resizes no empty pictures")
    right = problem.width - place.width - place.left
    below = problem.height - place.height - place.top
    dtype, function = getattr(torch, problem.dtype), torch.nn.functional
    how = _MODES.get(problem.rule, {"mode": "bilinear"})
    ratios = torch.tensor([[place.ratio, place.left, place.top]], device=images.device).repeat(problem.batch, 1)

    def compute() -> Mapping[str, Any]:
        levels = images.permute(0, 3, 1, 2).float()
        levels = function.interpolate(levels, (place.height, place.width), **how)
        levels = function.pad(levels, (place.left, right, place.top, below), value=scalars["pad"])
        numbers = (levels.flip(1) if problem.swap_channels else levels) * scalars["scale"]
        if problem.normalised:
            numbers = (numbers - tensors["mean"][:, None, None]) / tensors["std"][:, None, None]
        numbers = numbers if problem.order is Order.NCHW else numbers.permute(0, 2, 3, 1)
        return {"target": numbers.to(dtype).contiguous(), "placement": ratios}

    return compute


# Its pixels are not rounded to levels, and its products and sums are others.
_EAGER = TorchCall("torch.nn.functional.interpolate, pad, flip", _letterbox, verified=False)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _EAGER, "compile": compiled(_EAGER)}
