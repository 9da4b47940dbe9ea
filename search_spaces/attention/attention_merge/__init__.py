"""attention_merge, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.attention.attention_merge.emit import emit, emit_naive, emit_reference
from autotune.codegen.attention.attention_merge.problem import AttentionMergeProblem
from autotune.codegen.attention.attention_merge.schedule import AttentionMergeSchedule
from autotune.search_spaces.attention.vectors import vector_candidates, vector_constraints
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL
from .checks import checks

OPERATOR: Operator[AttentionMergeProblem, AttentionMergeSchedule] = Operator(
    name="attention_merge",
    summary="two attentions of the same queries, over other keys, put together",
    problem_type=AttentionMergeProblem,
    kernels=(
        Kernel(
            AttentionMergeSchedule,
            emit,
            vector_constraints,
            candidates=vector_candidates(AttentionMergeSchedule),
            checks=checks,
        ),
    ),
    reference=emit_reference,
    presets={"naive": emit_naive},
    call=CALL,
)
