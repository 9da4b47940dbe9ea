"""Attention and its masks, as transformers asks for them."""

from __future__ import annotations

import sys
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import causal_mask_function, sdpa_mask

from autotune import torch as functions
from autotune.torch.sdpa import served

from .capturing import is_captured

NAME = "autotune"
_MOST_NEW = 16  # tokens at the end of a cache with room for more, which attention_decode reads together


def register() -> None:
    """Make ``attn_implementation="autotune"`` known to transformers."""
    AttentionInterface.register(NAME, attention)
    AttentionMaskInterface.register(NAME, mask)


def mask(
    *,
    batch_size: int,
    q_length: int,
    kv_length: int,
    q_offset: Any = 0,
    kv_offset: int = 0,
    mask_function: Any = causal_mask_function,
    attention_mask: Any = None,
    local_size: int | None = None,
    allow_is_causal_skip: bool = True,
    config: Any = None,
    **options: Any,
) -> Any:
    """None, if attention knows by itself which keys are seen; else the mask that PyTorch's function gets.

    That is so for causal masks and sliding windows without padding, if the last query meets the last key: not for
    windows that are chunks. Caches with room for more have the number of their tokens on the device alone. For a few
    queries at their end, the mask is that number for each sequence, int32 of shape (batch, 1, 1, 1).
    """
    at_end = torch.is_tensor(q_offset) and q_length <= _MOST_NEW and not kv_offset
    if at_end and mask_function is causal_mask_function and _is_full(attention_mask):
        return (q_offset + q_length).to(torch.int32).expand(batch_size).contiguous().view(-1, 1, 1, 1)
    ends_meet = isinstance(q_offset, int) and q_offset + q_length == kv_offset + kv_length
    chunked = getattr(config, "attention_chunk_size", None)
    sliding = local_size is None or (not chunked and local_size == getattr(config, "sliding_window", None))
    if allow_is_causal_skip and ends_meet and sliding and _is_full(attention_mask):
        return None
    return sdpa_mask(
        batch_size=batch_size,
        q_length=q_length,
        kv_length=kv_length,
        q_offset=q_offset,
        kv_offset=kv_offset,
        mask_function=mask_function,
        attention_mask=attention_mask,
        local_size=local_size,
        allow_is_causal_skip=False,
        config=config,
        **options,
    )


def attention(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: Any = None,
    **options: Any,
) -> Any:
    """Attention of (batch, heads, sequence, elements): (batch, queries, heads, elements), and no weights.

    What `served` does not take, masks, dropout and a bias of positions are left to PyTorch's function; with a softcap
    or sinks (`s_aux`), which that does not know, to the model's own.
    """
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    window = sliding_window if causal else None
    lengths = _lengths(attention_mask)
    biased = (attention_mask is not None and lengths is None) or dropout or options.get("position_bias") is not None
    if not biased and served(query, key, value, scaling):
        q, k, v = (tensor.transpose(1, 2) for tensor in (query, key, value))
        sinks = None if s_aux is None else s_aux.float()
        stated = {"scale": scaling or 0.0, "causal": causal, "window_left": window or 0, "softcap": softcap or 0.0}
        if lengths is None:
            return functions.attention(q, k, v, sinks, **stated), None
        if not (torch.is_grad_enabled() and any(one.requires_grad for one in (q, k, v))):
            return functions.attention_decode(q, k, v, lengths, None, sinks, **stated), None
    if lengths is not None:
        attention_mask = _seen_by_last(query, key, lengths)
    if attention_mask is None and causal:
        attention_mask = _seen(query, key, window)
    options |= {"dropout": dropout, "scaling": scaling}
    if softcap or s_aux is not None:
        own = sys.modules[type(module).__module__].eager_attention_forward
        if attention_mask is not None and attention_mask.dtype == torch.bool:
            attention_mask = torch.where(attention_mask, 0.0, torch.finfo(query.dtype).min).to(query.dtype)
        return own(module, query, key, value, attention_mask, softcap=softcap, s_aux=s_aux, **options)
    return sdpa_attention_forward(module, query, key, value, attention_mask, is_causal=causal, **options)


def _is_full(padding: Any) -> bool:
    """Whether no token is padding, as far as that can be told: not while a compiler or a captured graph follows."""
    return padding is None or (not torch.compiler.is_compiling() and not is_captured(padding) and bool(padding.all()))


def _lengths(mask: Any) -> Any:
    """The numbers of keys of each sequence, (batch,), if that is what a mask states; else None."""
    stated = mask is not None and mask.dtype == torch.int32 and mask.shape[1:] == (1, 1, 1)
    return mask.view(-1) if stated else None


def _seen_by_last(query: Any, key: Any, lengths: Any) -> Any:
    """Which keys of so many are seen by queries that are the last of them, (batch, 1, queries, keys)."""
    queries, keys = query.shape[2], key.shape[2]
    behind = torch.arange(queries - 1, -1, -1, device=query.device)[:, None]
    return torch.arange(keys, device=query.device) < lengths.view(-1, 1, 1, 1) - behind


def _seen(query: Any, key: Any, window: int | None) -> Any:
    """Which keys a query sees, (1, 1, queries, keys); None if PyTorch's function knows by itself."""
    queries, keys = query.shape[2], key.shape[2]
    if window is None and queries == keys:
        return None
    ahead = torch.arange(keys - queries, keys, device=query.device)[:, None] - torch.arange(keys, device=query.device)
    seen: Any = (ahead >= 0) & (ahead < (window or keys))
    return seen[None, None]
