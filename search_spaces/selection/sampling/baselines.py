"""What users would call instead of sampling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.selection.sampling.problem import SamplingProblem
from autotune.search_spaces.contract.baselines import TorchCall


def _chain(torch: Any, problem: SamplingProblem, tensors: Mapping[str, Any]) -> Callable[[], Any]:
    """Softmax, a sort if tokens are left out, masks of those that are, and a draw: what is written by hand."""
    logits, tokens, minus_infinity = tensors["x"], tensors["tokens"], float("-inf")
    ranks = torch.arange(problem.columns, device=logits.device)

    def compute() -> None:
        scaled = logits.float()
        if problem.temperatures:
            scaled = scaled / tensors["temperature"][:, None]
        if problem.min_p:
            probabilities = scaled.softmax(-1)
            least = probabilities.amax(-1, True) * tensors["min_p"][:, None]
            scaled = scaled.masked_fill(probabilities < least, minus_infinity)
        if problem.top_k or problem.top_p:
            scaled, order = scaled.sort(-1, descending=True)
            if problem.top_k:
                scaled = scaled.masked_fill(ranks >= tensors["top_k"][:, None], minus_infinity)
            probabilities = scaled.softmax(-1)
            if problem.top_p:
                before = probabilities.cumsum(-1) - probabilities
                probabilities = probabilities.masked_fill(before >= tensors["top_p"][:, None], 0)
            tokens.copy_(order.gather(-1, probabilities.multinomial(1))[:, 0])
        else:
            tokens.copy_(scaled.softmax(-1).multinomial(1)[:, 0])

    return compute


BASELINES: Mapping[str, TorchCall | str] = {
    "torch": TorchCall("torch.softmax, sort, cumsum, multinomial", _chain, verified=False, replayed=False),
    "flashinfer": "bench.baselines.selection.flashinfer:SAMPLING",
}
