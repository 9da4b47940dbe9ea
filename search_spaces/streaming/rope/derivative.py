"""How rope is differentiated: gradients are rotated back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.search_spaces.contract.derivative import Backward, Derivative


def _backward(given: Backward) -> Mapping[str, Any]:
    """Where nothing depends on one of the results, it has no heads."""
    of_q, of_k = given.gradients["rotated_q"], given.gradients["rotated_k"]
    some = of_q if of_q is not None else of_k
    of_q, of_k = (some[..., :0, :] if one is None else one for one in (of_q, of_k))
    arguments = {**given.arguments, "conj": not given.arguments["conj"]}
    # An expanded scalar has no heads.
    found = given.operators.rope(
        of_q.contiguous(), of_k.contiguous(), given.saved["positions"], given.saved["cos_sin_cache"], **arguments
    )
    return {name: found[place] for place, name in enumerate(("q", "k")) if found[place].numel()}


DERIVATIVE = Derivative(_backward, saves=("positions", "cos_sin_cache"))
