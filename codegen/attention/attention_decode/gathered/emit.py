"""The program of a schedule that gathers keys first."""

from __future__ import annotations

from dataclasses import replace

from autotune.codegen.attention.attention.wgmma.emit import emit as emit_wgmma
from autotune.codegen.attention.attention_decode.emit import source_of
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.program import Program

from .packed import key_pitch, packed
from .schedule import GatheredSchedule, GatherSchedule

_GATHERED = {"k": "gathered_keys", "v": "gathered_values", "offsets": "first_queries", "offsets_k": "first_keys"}


def emit(problem: AttentionDecodeProblem, schedule: GatheredSchedule) -> Program:
    """The launch that gathers keys and values, and that of attention."""
    attend = emit_wgmma(packed(problem), schedule).taking(**_GATHERED)
    return _gather(problem).then(attend).in_workspace(**gathered_bytes(problem))


def gathered_bytes(problem: AttentionDecodeProblem) -> dict[str, int]:
    """What the first launch leaves for the second one, by the names of parts of the workspace."""
    heads = problem.batch * problem.keys * problem.kv_heads
    offsets = DType.INT32.bytes * (problem.batch + 1)
    return {
        "gathered_keys": heads * key_pitch(problem.head_dim) * problem.dtype.bytes,
        "gathered_values": heads * key_pitch(problem.value_elements) * problem.dtype.bytes,
        "first_queries": offsets,
        "first_keys": offsets,
    }


def _gather(problem: AttentionDecodeProblem) -> Program:
    source = source_of(problem)
    parts = [Argument(name, "void*") for name in _GATHERED.values()]
    return replace(source, scalars=[*(source.scalars or ()), *parts]).scheduled(
        GatherSchedule(),
        "gathered/gather",
        "gather_block",
        facts={"gathered_vector": problem.widest_of(*problem.cached_operands)},
        served=f"{source.served}, keys and values gathered",
    )
