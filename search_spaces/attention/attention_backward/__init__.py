"""attention_backward, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention_backward.emit import emit_reference
from autotune.codegen.attention.attention_backward.presets import PRESETS
from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL
from .default import KERNELS, default

OPERATOR: Operator[AttentionBackwardProblem, Any] = Operator(
    name="attention_backward",
    summary="gradients of attention: dq, dk, dv, and those of sinks",
    problem_type=AttentionBackwardProblem,
    kernels=KERNELS,
    default=default,
    reference=emit_reference,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
)
