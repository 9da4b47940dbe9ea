"""How users call attention with cached keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention_decode.problem import AttentionDecodeProblem
from autotune.codegen.attention.attention_decode.requests import MOST_DIM, MOST_QUERIES
from autotune.codegen.attention.cache import Cache
from autotune.codegen.attention.problem import DTYPES
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.attention.heads import extents
from autotune.search_spaces.attention.pages import check_page_order, check_scales, page_axes, page_order, scale_fields
from autotune.search_spaces.attention.results import result_types
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields

_ORDER = "bshd"


def attention_decode(
    q: Any,
    k_cache: Any,
    v_cache: Any = None,
    lengths: Any = None,
    table: Any = None,
    sinks: Any = None,
    k_scale: Any = None,
    v_scale: Any = None,
    *,
    scale: float = 0.0,
    causal: bool = False,
    window_left: int = 0,
    window_right: int = 0,
    softcap: float = 0.0,
    order: str = "nhd",
    value_dim: int = 0,
    batch_invariant: bool = False,
    lse: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """Attention of a few queries of each request, or of a chunk of its prompt, whose keys and values are in a cache.

    There are up to 16384 queries, of which 16 rows of heads that share keys read them together. The last query of a
    request meets its last key. All else is as in `attention`. Lengths and numbers of pages are read on the device, and
    not checked: a length is taken for one of the cache's at most, a number that is no page's for the last page.

    Args:
        q: bfloat16 or float16, of shape (batch, queries, heads, head_dim). Elements of a head are contiguous, other
            axes may have any strides. Heads have 1 to 576 elements.
        k_cache: of the dtype of `q`, float8_e4m3fn or int8 and, with a table, of shape (pages, page, heads_kv,
            head_dim), without of shape (batch, keys, heads_kv, head_dim); or in another `order`.
        v_cache: likewise, of the dtype of `k_cache`, with heads of value_dim elements. Latent keys have none: values
            are their first elements.
        lengths: int32, of shape (batch,): how many keys each request has, those of its own queries among them. By
            default each has as many as there is room for.
        table: int32, of shape (batch, columns): the pages of each request in the order of its keys. Entries behind its
            length may be anything.
        sinks: float32 for each head: the score of a key whose value is 0. It is not scaled.
        k_scale: what elements of a `k_cache` of float8_e4m3fn or int8 are multiplied by, float32 and positive: of shape
            (1,), or (heads_kv,), or that of `k_cache` without the last axis, a scale for each token and head. Those of
            places that no request has may be anything.
        v_scale: likewise, of `v_cache`, of the shape of `k_scale`.
        scale: of the products of queries and keys, more than 0; 0 stands for 1 / √head_dim.
        causal: whether a query sees no key behind its diagonal.
        window_left: keys up to the diagonal, it included, that a query sees; 0: all.
        window_right: keys from the diagonal on, it included, that a query sees; 0: all.
        softcap: scores s become softcap·tanh(s / softcap), before they are masked; 0: they do not.
        order: of the axes of a page: ``nhd``, or ``hnd`` with heads ahead of keys.
        value_dim: elements of the values of latent keys, without `v_cache`, and of the dtype of `q`; otherwise 0.
        batch_invariant: choose the kernel whatever the number of requests and the room for their keys: a request has
            the same bits alone and in any batch. This may be slower.
        lse: is written, if it is given: the natural logarithm of the sum of exponentials of each row's scores, float32
            of shape (batch, heads, queries); -infinity of a row that sees no key.
        out: o, of shape (batch, queries, heads, value_dim). By default a new array of the library of `q`.

    Returns:
        o.
    """


def _types(
    q: Layout,
    k_cache: Layout,
    v_cache: Layout | None,
    lengths: Layout | None,
    table: Layout | None,
    sinks: Layout | None,
    k_scale: Layout | None,
    v_scale: Layout | None,
    order: str,
    value_dim: int,
    **options: Any,
) -> Mapping[str, ArrayType]:
    check_page_order(order)
    v_cache = _values(q, k_cache, v_cache, value_dim)
    of_q = extents("q", q, _ORDER)
    if not 1 <= of_q["s"] <= MOST_QUERIES:
        raise ValueError(f"q has shape {q.shape}: expected 1 to {MOST_QUERIES} queries of each request")
    of_k, of_v = (page_axes(name, one, order) for name, one in (("k_cache", k_cache), ("v_cache", v_cache)))
    if {**of_k, "d": 0} != {**of_v, "d": 0}:
        raise ValueError(
            f"v_cache has shape {v_cache.shape}: expected that of k_cache, {k_cache.shape}, but for the last axis"
        )
    check_dtype("attention_decode", "q", q, DTYPES)
    if of_k["d"] != of_q["d"]:
        raise ValueError(f"k_cache has shape {k_cache.shape}: expected heads of {of_q['d']} elements, as those of q")
    if not of_k["h"] or of_q["h"] % of_k["h"]:
        raise ValueError(f"k_cache has shape {k_cache.shape}: expected heads that divide the {of_q['h']} of q")
    batch = of_q["b"]
    check_array("lengths", lengths, DType.INT32, (batch,))
    if table is None and of_k["p"] != batch:
        raise ValueError(f"k_cache has shape {k_cache.shape}: expected a row for each of {batch} requests, or a table")
    if table is not None:
        if len(table.shape) != 2:
            raise ValueError(f"table has shape {table.shape}: expected a row of pages for each of {batch} requests")
        check_array("table", table, DType.INT32, (batch, table.shape[1]))
        if not of_k["p"] * of_k["n"]:
            raise ValueError(f"k_cache has shape {k_cache.shape}: expected a page at least")
    check_scales(q.dtype, k_cache, v_cache, k_scale, v_scale, order)
    k, v = (
        one._replace(shape=(batch, of_k["n"], of_k["h"], of_one["d"]), dtype=q.dtype)
        for one, of_one in ((k_cache, of_k), (v_cache, of_v))
    )
    return result_types(q, k, v, sinks, _ORDER, MOST_DIM)


def _values(q: Layout, k_cache: Layout, v_cache: Layout | None, value_dim: int) -> Layout:
    """Values, which may be the first elements of keys.

    Raises:
        ValueError: it is not said which, or codes are latent keys.
    """
    if (v_cache is None) != (value_dim > 0):
        raise ValueError(f"value_dim={value_dim}: expected elements of latent keys, without v_cache, or 0")
    if v_cache is not None:
        return v_cache
    if k_cache.dtype != q.dtype or value_dim > k_cache.shape[-1]:
        raise ValueError(
            f"value_dim={value_dim}: k_cache has dtype {k_cache.dtype} and shape {k_cache.shape}: "
            f"expected latent keys of {q.dtype}, of as many elements or more"
        )
    return k_cache._replace(shape=(*k_cache.shape[:-1], value_dim))


def _bind(
    q: Layout,
    k_cache: Layout,
    v_cache: Layout | None,
    lengths: Layout | None,
    table: Layout | None,
    sinks: Layout | None,
    k_scale: Layout | None,
    v_scale: Layout | None,
    lse: Layout | None,
    out: Layout,
    order: str,
    value_dim: int,
    softcap_nonzero: bool,
    **options: Any,
) -> Binding:
    operands, of_q, cache = (
        AttentionDecodeProblem.operands,
        extents("q", q, _ORDER),
        page_axes("k_cache", k_cache, order),
    )
    where: dict[str, Any] = stride_fields("q", q, "q", operands["q"]) | stride_fields("out", out, "o", operands["o"])
    for name, operand, one in (("k_cache", "k", k_cache), ("v_cache", "v", v_cache)):
        if one is not None:
            where |= stride_fields(name, one, operand, operands[operand], page_order(operands[operand], order))
    scales, of_scales = scale_fields({"kscale": k_scale, "vscale": v_scale}, order)
    problem = AttentionDecodeProblem(
        queries=of_q["s"],
        keys=cache["n"] * table.shape[1] if table else cache["n"],
        heads=of_q["h"],
        batch=of_q["b"],
        heads_kv=cache["h"],
        head_dim=of_q["d"],
        value_dim=v_cache.shape[3] if v_cache else value_dim,
        latent=v_cache is None,
        dtype=DType(q.dtype),
        page=cache["n"] if table else 0,
        pages=cache["p"] if table else 0,
        cache=Cache.of(DType(k_cache.dtype)),
        scales=scales,
        softcap=softcap_nonzero,
        sinks=sinks is not None,
        lse=lse is not None,
        full=lengths is None,
        **options,
        **where,
        **of_scales,
    )
    names = {"k_cache": "k", "v_cache": "v", "k_scale": "kscale", "v_scale": "vscale", "out": "o"}
    return Binding(problem, names)


CALL = Call(
    declaration=attention_decode,
    inputs=("q", "k_cache", "v_cache", "lengths", "table", "sinks", "k_scale", "v_scale"),
    outputs=("out", "lse"),
    types=_types,
    bind=_bind,
    scalars=("scale", "softcap"),
    optional=("v_cache", "lengths", "table", "sinks", "k_scale", "v_scale", "lse"),
    switches=("softcap",),
    nonnegative=("scale", "softcap"),
    reordered=("k_cache", "v_cache", "k_scale", "v_scale", "lse"),
)
