"""How users call attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.search_spaces.attention.heads import check_order
from autotune.search_spaces.attention.results import result_binding, result_types
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def attention(
    q: Any,
    k: Any,
    v: Any,
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
    order: str = "bshd",
    lse: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """O = softmax(scale·Q·Kᵀ)·V of each head, with sums in FP32.

    A query's diagonal is the key that it meets if the last query meets the last key. A row that sees no key is 0.

    Args:
        q: bfloat16 or float16, of shape (batch, queries, heads, head_dim), or in another `order`. Elements of a head
            are contiguous; axes may have any strides, so that a slice of a packed QKV will do. Heads have 1 to 256
            elements.
        k: (batch, keys, heads_kv, head_dim), of the dtype of `q`. Each of its heads serves as many of q, one behind
            the other, so heads_kv divides the heads of q.
        v: (batch, keys, heads_kv, value_dim).
        sinks: float32 for each head: the score of a key whose value is 0. It is not scaled.
        numbers: float32 of one axis, the table that fragments read as ``numbers[i]``, if they do.
        integers: int32 of one axis, likewise ``integers[i]``, of absolute values of 2²⁹ at most, which are not checked.
        scale: of the products of queries and keys, more than 0; 0 stands for 1 / √head_dim.
        causal: whether a query sees no key behind its diagonal.
        window_left: keys up to the diagonal, it included, that a query sees, as `sliding_window` of models; 0: all.
        window_right: keys from the diagonal on, it included, that a query sees; 0: all.
        top_left: whether the first query meets the first key instead, as in PyTorch.
        softcap: scores s become softcap·tanh(s / softcap), before they are masked; 0: they do not.
        score: how scores change once they are scaled, a text of `autotune.fragments`; of no call with a softcap.
        mask: which keys are seen of those that the windows leave, likewise.
        order: of the axes of q, k, v and o: ``bshd``, or ``bhsd`` with heads ahead of queries, as in PyTorch.
        lse: is written, if it is given: the natural logarithm of the sum of exponentials of each row's scores, float32
            of shape (batch, heads, queries); -infinity of a row that sees no key.
        out: o, of shape (batch, queries, heads, value_dim) in that order. By default a new array of the library of `q`.

    Returns:
        o.
    """


def _types(order: str, **given: Any) -> Mapping[str, ArrayType]:
    check_order(order)
    return result_types(order=order, **given)


def _bind(q: Layout, order: str, softcap_nonzero: bool, **given: Any) -> Binding:
    batch = q.shape[order.index("b")]
    return result_binding(AttentionProblem, order, q=q, batch=batch, softcap=softcap_nonzero, **given)


CALL = Call(
    declaration=attention,
    inputs=("q", "k", "v", "sinks", "numbers", "integers"),
    outputs=("out", "lse"),
    types=_types,
    bind=_bind,
    scalars=("scale", "softcap"),
    optional=("sinks", "numbers", "integers", "lse"),
    switches=("softcap",),
    nonnegative=("scale", "softcap"),
    reordered=("q", "k", "v", "out", "lse"),
)
