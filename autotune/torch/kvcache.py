"""FlashAttention's attention with a cache of keys and values, by kv_append and attention_decode."""

from __future__ import annotations

from typing import Any

import torch

from autotune import dispatcher

from .operators import functions


def flash_attn_with_kvcache(
    q: Any,
    k_cache: Any,
    v_cache: Any,
    k: Any = None,
    v: Any = None,
    *,
    cache_seqlens: Any,
    block_table: Any = None,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
    softcap: float = 0.0,
    k_descale: Any = None,
    v_descale: Any = None,
    return_softmax_lse: bool = False,
) -> Any:
    """``flash_attn.flash_attn_with_kvcache`` of up to 16384 queries, without rotary embeddings, ALiBi or other rows.

    With `k` and `v`, these are first written to the cache behind the keys that `cache_seqlens` counts.

    Args:
        q: bfloat16 or float16, of shape (batch, queries, heads, head_dim).
        k_cache: (pages, page, heads_kv, head_dim) with `block_table`, else (batch, keys, heads_kv, head_dim).
        v_cache: likewise. Caches may be float8_e4m3fn or int8, too.
        k: new keys, (batch, new, heads_kv, head_dim).
        v: new values, likewise.
        cache_seqlens: int32 of shape (batch,), the keys of each request in the cache; or one number for all.
        block_table: int32 of shape (batch, columns), the pages of each request.
        softmax_scale: of the products of queries and keys; None stands for 1 / √head_dim.
        causal: whether a query sees no key behind its diagonal.
        window_size: keys ahead of a query's diagonal and behind it that it sees, -1 for all.
        softcap: scores s become softcap·tanh(s / softcap); 0: they do not.
        k_descale: what elements of such a `k_cache` are multiplied by, float32: of shape (1,) or (heads_kv,); or that
            of `k_cache` without the last axis, which also gets the scales of new keys.
        v_descale: likewise, of `v_cache`.
        return_softmax_lse: whether the logarithms of the sums are returned, too.

    Returns:
        (batch, queries, heads, value_dim); with `return_softmax_lse` and float32 of shape (batch, heads, queries).

    Raises:
        TypeError, ValueError: see ``dispatcher.kv_append`` and ``dispatcher.attention_decode``.
    """
    batch, queries, heads, _ = q.shape
    if not isinstance(cache_seqlens, torch.Tensor):
        cache_seqlens = torch.full((batch,), cache_seqlens, dtype=torch.int32, device=q.device)
    if k is not None:
        scales = {}
        if k_descale is not None:
            cached = "_cache" if k_descale.ndim > 1 else ""
            scales = {f"k_scale{cached}": k_descale, f"v_scale{cached}": v_descale}
        new = k.flatten(0, 1), v.flatten(0, 1)
        functions["kv_append"](*new, k_cache, v_cache, lengths=cache_seqlens, table=block_table, **scales)
        cache_seqlens = cache_seqlens + k.shape[1]
    left, right = window_size
    options = {
        "scale": softmax_scale or 0.0,
        "causal": causal or right == 0,
        "window_left": left + 1,
        "window_right": right + 1 if right > 0 and not causal else 0,
        "softcap": softcap,
    }
    arrays = (q, k_cache, v_cache, cache_seqlens, block_table, None, k_descale, v_descale)
    if not return_softmax_lse:
        return functions["attention_decode"](*arrays, **options)
    lse = torch.empty(batch, heads, queries, dtype=torch.float32, device=q.device)
    return dispatcher.attention_decode(*arrays, **options, lse=lse), lse


def block_table(
    indptr: Any, indices: Any, last_page_len: Any, page: int, columns: int | None = None
) -> tuple[Any, Any]:
    """FlashInfer's pages of requests, as `flash_attn_with_kvcache` takes them: without a loop, and on their device.

    Args:
        indptr: int32 of shape (batch + 1,): where the pages of each request begin among `indices`, and their number.
        indices: int32 of shape (all_pages,): the pages of one request behind those of another.
        last_page_len: int32 of shape (batch,): keys in the last page of each request.
        page: places of a page.
        columns: pages that a request has room for. By default the most that one has, for which the host waits; state it
            where a graph is captured.

    Returns:
        The table, int32 of shape (batch, columns), with page 0 behind those of a request, and the keys of each request,
        int32 of shape (batch,).
    """
    counts = indptr.diff()
    if columns is None:
        columns = int(counts.max()) if len(counts) else 0
    places = torch.arange(columns, device=indptr.device)
    there = places < counts[:, None]
    found = (indptr[:-1, None] + places).clamp(max=max(0, len(indices) - 1)).long()
    pages = indices[found] if len(indices) else torch.zeros_like(found)
    table = torch.where(there, pages, 0).int()
    lengths = torch.where(counts > 0, (counts - 1) * page + last_page_len, 0).int()
    return table, lengths
