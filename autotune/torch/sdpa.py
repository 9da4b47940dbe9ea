"""PyTorch's own attention function, by attention where it takes the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autotune import fragments
from autotune.codegen.attention.problem import MOST_DIM

from .operators import functions

_DTYPES = (torch.bfloat16, torch.float16)


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    score_mod: Callable[..., Any] | str = "",
    mask_mod: Callable[..., Any] | str = "",
    numbers: Any = None,
    integers: Any = None,
) -> Any:
    """``torch.nn.functional.scaled_dot_product_attention``, by attention where that serves the call.

    That function computes what attention does not: calls with `attn_mask` or `dropout_p`, tensors that are not bfloat16
    or float16 of four axes, heads of more than 256 elements. Errors are its own.

    Args:
        query: (batch, heads, queries, head_dim).
        key: (batch, heads_kv, keys, head_dim).
        value: (batch, heads_kv, keys, value_dim).
        attn_mask: added to scores, or whether a key is seen.
        dropout_p: probability that a weight is dropped.
        is_causal: whether query i sees keys 0 to i alone.
        scale: of the products of queries and keys; None stands for 1 / √head_dim.
        enable_gqa: whether heads_kv may be a divisor of heads.
        score_mod: what scaled scores become: a function of (score, batch, head, q, k) for `fragments.score`, or its
            text. Nothing but attention computes that.
        mask_mod: which keys are seen: a function of (batch, head, q, k) for `fragments.mask`, or its text; likewise.
        numbers: float32 of one axis, the table that these functions read as ``fragments.numbers[i]``, if they do.
        integers: int32 of one axis, likewise ``fragments.integers[i]``.

    Returns:
        (batch, heads, queries, value_dim).
    """
    score = score_mod if isinstance(score_mod, str) else fragments.score(score_mod)
    mask = mask_mod if isinstance(mask_mod, str) else fragments.mask(mask_mod)
    grouped = query.ndim == 4 and (enable_gqa or key.shape[:2] == query.shape[:2])
    if attn_mask is None and not dropout_p and grouped and served(query, key, value, scale):
        # Only the layout that PyTorch's result has, (batch, queries, heads, value_dim) in memory, is written.
        q, k, v = (tensor.transpose(1, 2) for tensor in (query, key, value))
        options = {"scale": scale or 0.0, "causal": is_causal, "top_left": is_causal, "score": score, "mask": mask}
        tables = {"numbers": numbers, "integers": integers}
        return functions["attention"](q, k, v, **tables, **options).transpose(1, 2)
    if score or mask:
        raise ValueError("score_mod, mask_mod: expected a call that attention serves, without attn_mask and dropout_p")
    return torch.nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )


def served(query: Any, key: Any, value: Any, scale: float | None) -> bool:
    """Whether attention computes this, of tensors (batch, heads, sequence, elements)."""
    tensors = (query, key, value)
    if any(tensor.ndim != 4 or tensor.dtype not in _DTYPES or tensor.stride(-1) != 1 for tensor in tensors):
        return False
    batch, heads, _, head_dim = query.shape
    _, heads_kv, keys, value_dim = value.shape
    return (
        key.shape == (batch, heads_kv, keys, head_dim)
        and value.shape[0] == batch
        and heads_kv > 0
        and heads % heads_kv == 0
        and keys > 0
        and 0 < head_dim <= MOST_DIM
        and 0 < value_dim <= MOST_DIM
        and query.dtype == key.dtype == value.dtype
        and query.device == key.device == value.device
        and (scale is None or scale > 0)
    )
