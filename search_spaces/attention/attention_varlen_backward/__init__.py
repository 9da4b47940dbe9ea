"""attention_varlen_backward, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention_backward.emit import emit_reference
from autotune.codegen.attention.attention_backward.presets import PRESETS
from autotune.codegen.attention.attention_backward.varlen import VarlenBackwardProblem
from autotune.search_spaces.attention.attention_backward.default import KERNELS, default
from autotune.search_spaces.contract.operator import Operator

from .call import CALL

OPERATOR: Operator[VarlenBackwardProblem, Any] = Operator(
    name="attention_varlen_backward",
    summary="gradients of attention_varlen: dq, dk, dv, and those of sinks",
    problem_type=VarlenBackwardProblem,
    kernels=KERNELS,
    default=default,
    reference=emit_reference,
    presets=PRESETS,
    call=CALL,
)
