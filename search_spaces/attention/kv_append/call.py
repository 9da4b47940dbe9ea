"""How users call kv_append."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.kv_append.problem import SLOT_DTYPES, KvAppendProblem
from autotune.codegen.model.dtype import DType
from autotune.search_spaces.attention.pages import check_page_order, page_axes, page_order
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields


def kv_append(
    k: Any, v: Any, k_cache: Any, v_cache: Any, slots: Any, *, order: str = "nhd", stream: Any = None
) -> None:
    """Writes keys and values of new tokens into slots of caches, which are made of pages.

    Slot n is place n % page of page n // page. Of a cache without pages, (batch, places, heads, head_dim), a
    request's row is its page.

    Args:
        k: bfloat16 or float16, of shape (tokens, heads, head_dim). Elements of a head are contiguous, other axes may
            have any strides.
        v: (tokens, heads, value_dim), of the dtype of `k`.
        k_cache: (pages, page, heads, head_dim), or in another `order`, of the dtype of `k`. Is updated.
        v_cache: (pages, page, heads, value_dim) in that order. Is updated.
        slots: int32 or int64, of shape (tokens,). A token whose slot is negative, or behind the last one, is left
            out. If two tokens have the same slot, either may be there afterwards, or a part of each.
        order: of the axes of a page: ``nhd``, or ``hnd`` with heads ahead of places.
    """


def _types(
    k: Layout, v: Layout, k_cache: Layout, v_cache: Layout, slots: Layout, order: str
) -> Mapping[str, ArrayType]:
    check_page_order(order)
    check_dtype("kv_append", "slots", slots, SLOT_DTYPES)
    of_k, of_v = (page_axes(name, one, order) for name, one in (("k_cache", k_cache), ("v_cache", v_cache)))
    if len({one.dtype for one in (k, v, k_cache, v_cache)}) > 1:
        raise TypeError(
            f"k, v, k_cache and v_cache have dtypes {k.dtype}, {v.dtype}, {k_cache.dtype} and {v_cache.dtype}: "
            "expected the same"
        )
    if {**of_v, "d": 0} != {**of_k, "d": 0}:
        raise ValueError(
            f"v_cache has shape {v_cache.shape}: expected that of k_cache, {k_cache.shape}, but for the last axis"
        )
    tokens = slots.shape
    for name, one, of_cache in (("k", k, of_k), ("v", v, of_v)):
        expected = (*tokens, of_cache["h"], of_cache["d"])
        if len(tokens) != 1 or one.shape != expected:
            raise ValueError(
                f"{name} has shape {one.shape}, slots {tokens}: expected {expected[-3:]} and a slot for each token"
            )
    return {}


def _bind(k: Layout, v: Layout, k_cache: Layout, v_cache: Layout, slots: Layout, order: str) -> Binding:
    operands, cache = KvAppendProblem.operands, page_axes("k_cache", k_cache, order)
    where = stride_fields("k", k, "k", operands["k"]) | stride_fields("v", v, "v", operands["v"])
    for name, operand, one in (("k_cache", "keys", k_cache), ("v_cache", "values", v_cache)):
        where |= stride_fields(name, one, operand, operands[operand], page_order(operands[operand], order))
    problem = KvAppendProblem(
        tokens=k.shape[0],
        heads=k.shape[1],
        pages=cache["p"],
        page=cache["n"],
        head_dim=k.shape[2],
        value_dim=v.shape[2],
        dtype=DType(k.dtype),
        slot_dtype=DType(slots.dtype),
        **where,
    )
    return Binding(problem, {"k_cache": "keys", "v_cache": "values"})


CALL = Call(
    declaration=kv_append,
    inputs=("k", "v", "k_cache", "v_cache", "slots"),
    outputs=(),
    types=_types,
    bind=_bind,
    updates=("k_cache", "v_cache"),
    reordered=("k_cache", "v_cache"),
)
