"""How users call attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention.problem import DTYPES, MOST_DIM, AttentionProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, check_contiguous
from autotune.search_spaces.contract.strides import stride_fields

_ORDERS = ("bshd", "bhsd")


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
        order: of the axes of q, k, v and o: ``bshd``, or ``bhsd`` with heads ahead of queries, as in PyTorch.
        lse: is written, if it is given: the natural logarithm of the sum of exponentials of each row's scores, float32
            of shape (batch, heads, queries); -infinity of a row that sees no key.
        out: o, of shape (batch, queries, heads, value_dim) in that order. By default a new array of the library of `q`.

    Returns:
        o.
    """


def _extents(name: str, layout: Layout, order: str) -> dict[str, int]:
    if len(layout.shape) != len(order):
        raise ValueError(f"{name} has shape {layout.shape}: expected four axes, {order}")
    return dict(zip(order, layout.shape, strict=True))


def _types(
    q: Layout, k: Layout, v: Layout, sinks: Layout | None, order: str, **options: Any
) -> Mapping[str, ArrayType]:
    if order not in _ORDERS:
        raise ValueError(f"order={order!r}: expected {' or '.join(_ORDERS)}")
    if q.dtype not in DTYPES or (k.dtype, v.dtype) != (q.dtype, q.dtype):
        raise TypeError(
            f"q, k and v have dtypes {q.dtype}, {k.dtype} and {v.dtype}: expected one of {', '.join(DTYPES)}"
        )
    of_q, of_k, of_v = (_extents(name, one, order) for name, one in (("q", q), ("k", k), ("v", v)))
    if (of_k["b"], of_k["d"]) != (of_q["b"], of_q["d"]):
        raise ValueError(f"k has shape {k.shape}: expected the batch and head_dim of q, {q.shape}")
    if any(of_v[axis] != of_k[axis] for axis in "bsh"):
        raise ValueError(f"v has shape {v.shape}: expected that of k, {k.shape}, but for the elements of a head")
    if not 1 <= of_q["d"] <= MOST_DIM or not 1 <= of_v["d"] <= MOST_DIM:
        raise ValueError(f"q has shape {q.shape} and v {v.shape}: expected heads of 1 to {MOST_DIM} elements")
    if not of_k["h"] or of_q["h"] % of_k["h"]:
        raise ValueError(f"k has shape {k.shape}: expected heads that divide the {of_q['h']} of q")
    if sinks is not None and (sinks.shape, sinks.dtype) != ((of_q["h"],), DType.FLOAT32):
        raise ValueError(
            f"sinks has shape {sinks.shape} and dtype {sinks.dtype}: expected ({of_q['h']},) and {DType.FLOAT32}"
        )
    of_o = of_q | {"d": of_v["d"]}
    return {
        "out": ArrayType(tuple(of_o[axis] for axis in order), q.dtype),
        "lse": ArrayType((of_q["b"], of_q["h"], of_q["s"]), DType.FLOAT32),
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
    check_contiguous(sinks=sinks, lse=lse)
    where: dict[str, Any] = {}
    for operand, (name, layout) in {"q": ("q", q), "k": ("k", k), "v": ("v", v), "o": ("out", out)}.items():
        axes = AttentionProblem.operands[operand]
        named = dict(zip("bshd", axes.order, strict=True))
        where |= stride_fields(name, layout, operand, axes, "".join(named[axis] for axis in order))
    of_q, of_k, of_v = (_extents(name, one, order) for name, one in (("q", q), ("k", k), ("v", v)))
    problem = AttentionProblem(
        queries=of_q["s"],
        keys=of_k["s"],
        heads=of_q["h"],
        batch=of_q["b"],
        heads_kv=of_k["h"],
        head_dim=of_q["d"],
        value_dim=of_v["d"],
        dtype=DType(q.dtype),
        softcap=softcap_nonzero,
        sinks=sinks is not None,
        lse=lse is not None,
        **options,
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
)
