"""attention_varlen, as the rest of the project knows it."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.attention.emit import emit_reference
from autotune.codegen.attention.attention.presets import PRESETS
from autotune.codegen.attention.attention.varlen import VarlenAttentionProblem
from autotune.search_spaces.attention.attention.default import KERNELS, default
from autotune.search_spaces.attention.derivative import derivative_by
from autotune.search_spaces.contract.operator import Operator

from .baselines import BASELINES
from .call import CALL

OPERATOR: Operator[VarlenAttentionProblem, Any] = Operator(
    name="attention_varlen",
    summary="attention of sequences of various lengths that lie one behind the other",
    problem_type=VarlenAttentionProblem,
    kernels=KERNELS,
    default=default,
    reference=emit_reference,
    presets=PRESETS,
    baselines=BASELINES,
    call=CALL,
    derivative=derivative_by("attention_varlen_backward", "offsets", "offsets_k"),
)
