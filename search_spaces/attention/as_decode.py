"""Attention of few queries as decoding: heads that share keys are rows of a tile, and all SMs share the keys."""

from __future__ import annotations

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.indices import Spread
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem

_OF_FRAGMENTS = ("score", "mask", "numbers_count", "integers_count")
_MOST_QUERIES = 16  # of more, attention's own tiles are full


def as_decode(problem: AttentionProblem) -> EquivalentProblem | None:
    """The sequences as requests that have all of their keys; None if queries are many, or fragments change scores."""
    if problem.queries > _MOST_QUERIES or problem.scored or problem.masked:
        return None
    stated = {name: value for name, value in problem.to_dict().items() if name not in _OF_FRAGMENTS}
    rows = {f"stride_{operand}_p": stated.pop(f"stride_{operand}_b") for operand in "kv"}
    restated = AttentionDecodeProblem.from_dict({**stated, **rows, "full": True, "spread": Spread.EVEN})
    return EquivalentProblem("attention_decode", restated, {one.name: one.name for one in restated.tensors})
