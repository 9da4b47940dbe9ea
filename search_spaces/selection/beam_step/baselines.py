"""What users would call instead of beam_step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.selection.beam_step.problem import BeamStepProblem
from autotune.search_spaces.contract.baselines import TorchCall, compiled


def _topk(torch: Any, problem: BeamStepProblem, tensors: Mapping[str, Any]) -> Callable[[], Mapping[str, Any]]:
    """A sum, `topk` of all continuations of a request, and a division."""
    x, scores, shape = tensors["x"], tensors["scores"], (problem.requests, -1)

    def compute() -> Mapping[str, Any]:
        totals, places = (x + scores[..., None]).view(shape).topk(problem.k)
        parents, tokens = places // problem.columns, places % problem.columns
        return {"parents": parents, "tokens": tokens, "totals": totals}

    return compute


# Of equal continuations, PyTorch takes any, so its answers are others.
_EAGER = TorchCall("torch.topk of the sums", _topk, verified=False)
BASELINES: Mapping[str, TorchCall | str] = {"torch": _EAGER, "compile": compiled(_EAGER)}
