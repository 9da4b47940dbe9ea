"""attention, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention.emit import emit_reference
from autotune.codegen.attention.attention.presets import PRESETS
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.search_spaces.attention.as_decode import as_decode
from autotune.search_spaces.attention.derivative import derivative_by
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .default import KERNELS, default

OPERATOR: Operator[AttentionProblem, Any] = Operator(
    name="attention",
    summary="O = softmax(scale·Q·Kᵀ)·V of each head, by online softmax",
    problem_type=AttentionProblem,
    kernels=KERNELS,
    default=default,
    reference=emit_reference,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=derivative_by("attention_backward", options=("order",)),
    restated=as_decode,
)
