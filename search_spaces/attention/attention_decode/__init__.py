"""attention_decode, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention_decode.emit import emit_reference
from autotune.codegen.attention.attention_decode.presets import PRESETS
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .default import KERNELS, default

OPERATOR: Operator[AttentionDecodeProblem, Any] = Operator(
    name="attention_decode",
    summary="attention of a few queries of each request, whose keys and values are in a cache",
    problem_type=AttentionDecodeProblem,
    kernels=KERNELS,
    default=default,
    reference=emit_reference,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
