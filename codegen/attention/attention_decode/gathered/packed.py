"""Requests as packed sequences, whose keys and values lie one behind the other in the workspace."""

from __future__ import annotations

from autotune.codegen.attention.attention.varlen import VarlenAttentionProblem
from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.tensor_maps import ALIGNED
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.indices import Spread
from autotune.codegen.model.integers import round_up

_SHARED = (
    *("queries", "keys", "heads", "batch", "heads_kv", "window_left", "window_right", "head_dim", "value_dim", "dtype"),
    *("causal", "top_left", "softcap", "sinks", "lse"),
)


def packed(problem: AttentionDecodeProblem, keys: int | None = None) -> VarlenAttentionProblem:
    """Attention of as many sequences, of so many keys together; by default, of all that there is room for."""
    shared = {name: getattr(problem, name) for name in _SHARED}
    where = {
        name: getattr(problem, name)
        for name in field_specs(AttentionDecodeProblem)
        if name in ("align_q", "align_o") or (name.startswith(("stride_q_", "stride_o_")) and not name.endswith("_b"))
    }
    step = key_pitch(problem.head_dim), key_pitch(problem.value_elements)
    for operand, pitch in zip("kv", step, strict=True):
        where |= {f"stride_{operand}_g": pitch, f"stride_{operand}_t": problem.kv_heads * pitch}
    counts = {
        "queries": problem.batch * problem.queries,
        "keys": problem.batch * problem.keys if keys is None else keys,
        "spread": Spread.EVEN,
    }
    return VarlenAttentionProblem(**{**shared, **where, **counts, "cross": True})


def key_pitch(elements: int) -> int:
    """Elements from one head to the next, as tensor copies take them."""
    return round_up(elements, ALIGNED)
