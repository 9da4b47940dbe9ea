"""How users call attention of packed sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention.varlen import VarlenAttentionProblem
from autotune.search_spaces.attention.heads import PACKED, check_offsets
from autotune.search_spaces.attention.results import result_binding, result_types
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def attention_varlen(
    q: Any,
    k: Any,
    v: Any,
    offsets: Any,
    offsets_k: Any = None,
    sinks: Any = None,
    numbers: Any = None,
    integers: Any = None,
    *,
    scale: float = 0.0,
    causal: bool = False,
    window_left: int = 0,
    window_right: int = 0,
    top_left: bool = False,
    softcap: float = 0.0,
    score: str = "",
    mask: str = "",
    lse: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """O = softmax(scale·Q·Kᵀ)·V of each head of sequences that lie one behind the other, without padding.

    A query sees keys of its own sequence alone. All else is as in `attention`; bounds are relative to a sequence.

    Args:
        q: bfloat16 or float16, of shape (queries, heads, head_dim). Elements of a head are contiguous, other axes may
            have any strides.
        k: (keys, heads_kv, head_dim), of the dtype of `q`.
        v: (keys, heads_kv, value_dim).
        offsets: int32, ascending, one more than there are sequences: where each begins among the queries, and the
            number of all queries. Its contents are not checked.
        offsets_k: likewise among the keys, if sequences have not as many of them as queries.
        sinks: float32 for each head: the score of a key whose value is 0. It is not scaled.
        numbers: float32 of one axis, the table that fragments read as ``numbers[i]``, if they do.
        integers: int32 of one axis, likewise ``integers[i]``, of absolute values of 2²⁹ at most, which are not checked.
        scale: of the products of queries and keys, more than 0; 0 stands for 1 / √head_dim.
        causal: whether a query sees no key behind its diagonal.
        window_left: keys up to the diagonal, it included, that a query sees; 0: all.
        window_right: keys from the diagonal on, it included, that a query sees; 0: all.
        top_left: whether the first query of a sequence meets its first key, rather than the last ones each other.
        softcap: scores s become softcap·tanh(s / softcap), before they are masked; 0: they do not.
        score: how scores change once they are scaled, a text of `autotune.fragments`; of no call with a softcap. It has
            the number of the sequence, and those of query and key within it.
        mask: which keys are seen of those that the windows leave, likewise.
        lse: is written, if it is given: the natural logarithm of the sum of exponentials of each row's scores, float32
            of shape (heads, queries).
        out: o, of shape (queries, heads, value_dim). By default a new array of the library of `q`.

    Returns:
        o.
    """


def _types(q: Layout, k: Layout, offsets: Layout, offsets_k: Layout | None, **given: Any) -> Mapping[str, ArrayType]:
    types = result_types(q, k, order=PACKED, **given)
    check_offsets(q, k, offsets, offsets_k)
    return types


def _bind(offsets: Layout, offsets_k: Layout | None, softcap_nonzero: bool, **given: Any) -> Binding:
    cross, batch = offsets_k is not None, offsets.shape[0] - 1
    return result_binding(VarlenAttentionProblem, PACKED, batch=batch, cross=cross, softcap=softcap_nonzero, **given)


CALL = Call(
    declaration=attention_varlen,
    inputs=("q", "k", "v", "offsets", "offsets_k", "sinks", "numbers", "integers"),
    outputs=("out", "lse"),
    types=_types,
    bind=_bind,
    scalars=("scale", "softcap"),
    optional=("offsets_k", "sinks", "numbers", "integers", "lse"),
    switches=("softcap",),
    nonnegative=("scale", "softcap"),
    reordered=("lse",),
)
