"""How users call attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.attention.heads import check_heads, check_order, head_fields, operand_fields
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def attention(
    q: Any,
    k: Any,
    v: Any,
    sinks: Any = None,
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


def _types(
    q: Layout, k: Layout, v: Layout, sinks: Layout | None, order: str, **options: Any
) -> Mapping[str, ArrayType]:
    check_order(order)
    of_o = check_heads(q, k, v, sinks, order)
    return {
        "out": ArrayType(tuple(of_o[axis] for axis in order), q.dtype),
        "lse": ArrayType((of_o["b"], of_o["h"], of_o["s"]), DType.FLOAT32),
    }


def _bind(
    q: Layout,
    k: Layout,
    v: Layout,
    sinks: Layout | None,
    lse: Layout | None,
    out: Layout,
    order: str,
    softcap_nonzero: bool,
    **options: Any,
) -> Binding:
    where = operand_fields(
        AttentionProblem.operands, {"q": ("q", q), "k": ("k", k), "v": ("v", v), "o": ("out", out)}, order
    )
    problem = AttentionProblem(
        batch=q.shape[order.index("b")],
        softcap=softcap_nonzero,
        sinks=sinks is not None,
        lse=lse is not None,
        **options,
        **head_fields(q, k, v, order),
        **where,
    )
    return Binding(problem, {"out": "o"})


CALL = Call(
    declaration=attention,
    inputs=("q", "k", "v", "sinks"),
    outputs=("out", "lse"),
    types=_types,
    bind=_bind,
    scalars=("scale", "softcap"),
    optional=("sinks", "lse"),
    switches=("softcap",),
    reordered=("q", "k", "v", "out", "lse"),
)
