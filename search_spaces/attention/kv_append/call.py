"""How users call kv_append."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.cache import Cache
from autotune.codegen.attention.kv_append.problem import KvAppendProblem
from autotune.codegen.attention.kv_append.tensors import SLOT_DTYPES, Where
from autotune.codegen.attention.problem import DTYPES
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.attention.pages import check_page_order, check_scales, page_axes, page_order, scale_fields
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields


def kv_append(
    k: Any,
    v: Any,
    k_cache: Any,
    v_cache: Any,
    slots: Any = None,
    k_scale: Any = None,
    v_scale: Any = None,
    k_scale_cache: Any = None,
    v_scale_cache: Any = None,
    lengths: Any = None,
    table: Any = None,
    cos_sin_cache: Any = None,
    positions: Any = None,
    q: Any = None,
    *,
    interleaved: bool = False,
    order: str = "nhd",
    stream: Any = None,
) -> None:
    """Writes keys and values of new tokens into slots of caches, which are made of pages.

    Keys may be rotated first, and queries of the same tokens with them, as by `rope`.

    Slot n is place n % page of page n // page. Of a cache without pages, (batch, places, heads, head_dim), a
    request's row is its page. In caches of codes, a number becomes the code next to it divided by a scale: one that is
    given, or that by which the largest number of a token's head becomes the largest code, 448 or 127.

    Args:
        k: bfloat16 or float16, of shape (tokens, heads, head_dim). Elements of a head are contiguous, other axes may
            have any strides.
        v: (tokens, heads, value_dim), of the dtype of `k`.
        k_cache: (pages, page, heads, head_dim), or in another `order`, of the dtype of `k`, float8_e4m3fn or
            int8. Is updated.
        v_cache: (pages, page, heads, value_dim) in that order, of the dtype of `k_cache`. Is updated.
        slots: int32 or int64, of shape (tokens,). A token whose slot is negative, or behind the last one, is left
            out. If two tokens have the same slot, either may be there afterwards, or a part of each.
        k_scale: of codes: float32 and positive, of shape (1,) or (heads,).
        v_scale: likewise, of the shape of `k_scale`.
        k_scale_cache: instead of `k_scale`, what gets a scale for each head of each token: float32, of the shape of
            `k_cache` without the last axis. Is updated.
        v_scale_cache: likewise, instead of `v_scale`.
        lengths: instead of `slots`, the keys that each request has: int32 of shape (batch,). Each has as many of the
            tokens, one request's ahead of the next one's, which go behind these keys. A token for which there is
            no room is left out.
        table: int32 of shape (batch, columns), the pages of each request; without it, request i has page i alone.
        cos_sin_cache: rotates the first elements of heads of k, and of q: float32 of shape (positions, rotary_dim), of
            which half of a row has cosines, the other half sines.
        positions: with slots, the row of `cos_sin_cache` for each token, of the dtype of `slots`. With lengths, it is
            the token's place among the keys of its request. What the table lacks is taken for the nearest that it has.
        q: (tokens, heads_q, head_dim), of the dtype of `k`. Is rotated in place.
        interleaved: whether pairs are neighbours (GPT-J), rather than half of rotary_dim apart (GPT-NeoX, Llama).
        order: of the axes of a page: ``nhd``, or ``hnd`` with heads ahead of places.
    """


def _types(
    k: Layout,
    v: Layout,
    k_cache: Layout,
    v_cache: Layout,
    slots: Layout | None,
    k_scale: Layout | None,
    v_scale: Layout | None,
    k_scale_cache: Layout | None,
    v_scale_cache: Layout | None,
    lengths: Layout | None,
    table: Layout | None,
    cos_sin_cache: Layout | None,
    positions: Layout | None,
    q: Layout | None,
    interleaved: bool,
    order: str,
) -> Mapping[str, ArrayType]:
    check_page_order(order)
    _check_where(slots, lengths, table)
    of_k, of_v = (page_axes(name, one, order) for name, one in (("k_cache", k_cache), ("v_cache", v_cache)))
    if k.dtype not in DTYPES or v.dtype != k.dtype:
        raise TypeError(f"k and v have dtypes {k.dtype} and {v.dtype}: expected the same, {' or '.join(DTYPES)}")
    if (k_scale or v_scale) and (k_scale_cache or v_scale_cache):
        raise ValueError("k_scale and k_scale_cache are given: expected scales that are read, or that are written")
    check_scales(k.dtype, k_cache, v_cache, k_scale_cache or k_scale, v_scale_cache or v_scale, order)
    if k_scale and len(k_scale.shape) > 1:
        raise ValueError(f"k_scale has shape {k_scale.shape}: expected k_scale_cache of scales of tokens")
    if k_scale_cache and len(k_scale_cache.shape) == 1:
        raise ValueError(f"k_scale_cache has shape {k_scale_cache.shape}: expected {k_cache.shape[:-1]}")
    if {**of_v, "d": 0} != {**of_k, "d": 0}:
        raise ValueError(
            f"v_cache has shape {v_cache.shape}: expected that of k_cache, {k_cache.shape}, but for the last axis"
        )
    tokens = slots.shape if slots else k.shape[:1]
    for name, one, of_cache in (("k", k, of_k), ("v", v, of_v)):
        expected = (*tokens, of_cache["h"], of_cache["d"])
        if len(tokens) != 1 or one.shape != expected:
            raise ValueError(
                f"{name} has shape {one.shape}, slots {tokens}: expected {expected[-3:]} and a slot for each token"
            )
    if lengths and (tokens[0] % max(1, lengths.shape[0]) or (tokens[0] and not lengths.shape[0])):
        raise ValueError(f"k has {tokens[0]} tokens, lengths {lengths.shape}: expected as many of each request")
    _check_rotation(k, slots, cos_sin_cache, positions, q, interleaved)
    return {}


def _check_rotation(
    k: Layout,
    slots: Layout | None,
    cos_sin_cache: Layout | None,
    positions: Layout | None,
    q: Layout | None,
    interleaved: bool,
) -> None:
    """``TypeError`` or ``ValueError`` unless a table goes with the heads that it rotates, and says for which places."""
    table, tokens, elements = cos_sin_cache, k.shape[0], k.shape[2]
    if table is None:
        if positions or q or interleaved:
            raise ValueError("positions, q and interleaved: expected cos_sin_cache, which rotates heads, with them")
        return
    if table.dtype != DType.FLOAT32 or len(table.shape) != 2 or not table.shape[0] or not table.shape[1]:
        raise ValueError(
            f"cos_sin_cache has dtype {table.dtype} and shape {table.shape}: expected float32 and (positions, rotary)"
        )
    if (positions is None) != (slots is None):
        raise ValueError("expected positions with slots, and none with lengths, from which they follow")
    if slots:
        check_array("positions", positions, DType(slots.dtype), (tokens,))
    if q and (q.dtype != k.dtype or len(q.shape) != 3 or (q.shape[0], q.shape[2]) != (tokens, elements)):
        raise ValueError(
            f"q has dtype {q.dtype} and shape {q.shape}: expected {k.dtype} of ({tokens}, heads_q, {elements})"
        )


def _check_where(slots: Layout | None, lengths: Layout | None, table: Layout | None) -> None:
    """``TypeError`` or ``ValueError`` unless tokens have slots, or requests have lengths and maybe a table."""
    if (slots is None) == (lengths is None):
        raise ValueError("expected slots, or lengths of requests")
    if slots:
        check_dtype("kv_append", "slots", slots, SLOT_DTYPES)
    for name, one, axes in (("lengths", lengths, 1), ("table", table, 2)):
        if one is None:
            continue
        check_dtype("kv_append", name, one, (DType.INT32,))
        if lengths is None or len(one.shape) != axes or one.shape[0] != lengths.shape[0]:
            raise ValueError(
                f"{name} has shape {one.shape}: expected {'(batch,)' if axes == 1 else '(batch, columns) with lengths'}"
            )


def _bind(
    k: Layout,
    v: Layout,
    k_cache: Layout,
    v_cache: Layout,
    slots: Layout | None,
    k_scale: Layout | None,
    v_scale: Layout | None,
    k_scale_cache: Layout | None,
    v_scale_cache: Layout | None,
    lengths: Layout | None,
    table: Layout | None,
    cos_sin_cache: Layout | None,
    positions: Layout | None,
    q: Layout | None,
    interleaved: bool,
    order: str,
) -> Binding:
    operands, cache = KvAppendProblem.operands, page_axes("k_cache", k_cache, order)
    where = stride_fields("k", k, "k", operands["k"]) | stride_fields("v", v, "v", operands["v"])
    for name, operand, one in (("k_cache", "keys", k_cache), ("v_cache", "values", v_cache)):
        where |= stride_fields(name, one, operand, operands[operand], page_order(operands[operand], order))
    if q:
        where |= stride_fields("q", q, "q", operands["q"])
    of_scales = {"kscale": k_scale_cache or k_scale, "vscale": v_scale_cache or v_scale}
    scales, fields = scale_fields(of_scales, order)
    problem = KvAppendProblem(
        tokens=k.shape[0],
        heads=k.shape[1],
        pages=cache["p"],
        page=cache["n"],
        head_dim=k.shape[2],
        value_dim=v.shape[2],
        dtype=DType(k.dtype),
        slot_dtype=DType(slots.dtype) if slots else DType.INT32,
        where=Where.TABLE if table else Where.ROWS if lengths else Where.SLOTS,
        requests=lengths.shape[0] if lengths else 0,
        columns=table.shape[1] if table else 0,
        cache=Cache.of(DType(k_cache.dtype)),
        scales=scales,
        rotary_dim=cos_sin_cache.shape[1] if cos_sin_cache else 0,
        interleaved=interleaved,
        table_rows=cos_sin_cache.shape[0] if cos_sin_cache else 0,
        heads_q=q.shape[1] if q else 0,
        **where,
        **fields,
    )
    cached = "" if k_scale_cache is None else "_cache"
    names = {"cos_sin_cache": "turns", f"k_scale{cached}": "kscale", f"v_scale{cached}": "vscale"}
    return Binding(problem, {"k_cache": "keys", "v_cache": "values"} | names)


CALL = Call(
    declaration=kv_append,
    inputs=(
        *("k", "v", "k_cache", "v_cache", "slots"),
        *("k_scale", "v_scale", "k_scale_cache", "v_scale_cache", "lengths", "table"),
        *("cos_sin_cache", "positions", "q"),
    ),
    outputs=(),
    types=_types,
    bind=_bind,
    optional=(
        *("slots", "k_scale", "v_scale", "k_scale_cache", "v_scale_cache", "lengths", "table"),
        *("cos_sin_cache", "positions", "q"),
    ),
    updates=("k_cache", "v_cache", "k_scale_cache", "v_scale_cache", "q"),
    reordered=("k_cache", "v_cache", "k_scale", "v_scale", "k_scale_cache", "v_scale_cache"),
)
