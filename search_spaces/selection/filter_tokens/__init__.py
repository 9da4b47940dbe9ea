"""filter_tokens, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.selection.filter_tokens.emit import emit
from autotune.codegen.selection.filter_tokens.presets import PRESETS
from autotune.codegen.selection.filter_tokens.problem import FilterTokensProblem
from autotune.codegen.selection.sampling.schedule import SamplingSchedule
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.selection.sampling.space import candidates, constraints, space

from .call import CALL, top_k_mask_logits, top_k_renorm_probs, top_p_renorm_probs
from .checks import checks

OPERATOR: Operator[FilterTokensProblem, SamplingSchedule] = Operator(
    name="filter_tokens",
    summary="what sampling may draw of each row of logits, as probabilities or as masked logits",
    problem_type=FilterTokensProblem,
    kernels=(Kernel(SamplingSchedule, emit, constraints, space, candidates, checks),),
    presets=PRESETS,
    call=CALL,
    shorthands=(top_k_mask_logits, top_k_renorm_probs, top_p_renorm_probs),
)
