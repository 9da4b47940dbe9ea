"""kv_append, as the rest of the project knows it."""

from __future__ import annotations

from autotune.codegen.attention.kv_append.emit import emit, emit_naive
from autotune.codegen.attention.kv_append.problem import KvAppendProblem
from autotune.codegen.attention.kv_append.schedule import KvAppendSchedule
from autotune.search_spaces.attention.vectors import vector_constraints
from autotune.search_spaces.contract.kernel import Kernel
from autotune.search_spaces.contract.operator import Operator

from .call import CALL
from .checks import checks
from .space import candidates

OPERATOR: Operator[KvAppendProblem, KvAppendSchedule] = Operator(
    name="kv_append",
    summary="keys and values of new tokens into slots of a cache of pages",
    problem_type=KvAppendProblem,
    kernels=(Kernel(KvAppendSchedule, emit, vector_constraints, candidates=candidates, checks=checks),),
    presets={"naive": emit_naive},
    call=CALL,
)
