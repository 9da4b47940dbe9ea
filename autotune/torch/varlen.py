"""PyTorch's attention of packed sequences, by attention_varlen where it takes the call."""

from __future__ import annotations

from typing import Any

from torch.nn.attention import varlen as pytorch

from .operators import functions
from .sdpa import served


def varlen_attn(
    query: Any,
    key: Any,
    value: Any,
    cu_seq_q: Any,
    cu_seq_k: Any,
    max_q: int,
    max_k: int,
    *,
    scale: float | None = None,
    window_size: tuple[int, int] = (-1, -1),
    **options: Any,
) -> Any:
    """``torch.nn.attention.varlen.varlen_attn``, by attention_varlen where that serves the call.

    Its gradients are those of attention_varlen_backward. PyTorch's function computes what attention_varlen does not:
    calls with other options, tensors that are not bfloat16 or float16 of three axes. Errors are its own.

    Args:
        query: (queries, heads, head_dim) of all sequences.
        key: (keys, heads_kv, head_dim).
        value: (keys, heads_kv, value_dim).
        cu_seq_q: int32, where each sequence begins among the queries, and the number of all.
        cu_seq_k: likewise among the keys.
        max_q: of the queries of a sequence; attention_varlen reads lengths from `cu_seq_q`.
        max_k: of the keys of a sequence.
        scale: of the products of queries and keys; None stands for 1 / √head_dim.
        window_size: keys ahead of a query's diagonal and behind it that it sees, -1 for all: (-1, 0) is causal.
        options: of PyTorch's function.

    Returns:
        (queries, heads, value_dim).
    """
    tensors = query, key, value
    asked = any(option is not None for option in options.values())
    packed = all(tensor.ndim == 3 for tensor in tensors)
    if asked or not packed or not _served(query, key, value, scale):
        return pytorch.varlen_attn(
            query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, scale=scale, window_size=window_size, **options
        )
    left, right = window_size
    return functions["attention_varlen"](
        *(query, key, value, cu_seq_q),
        None if cu_seq_k is cu_seq_q else cu_seq_k,
        scale=scale or 0.0,
        causal=right == 0,
        window_left=left + 1,
        window_right=max(0, right) and right + 1,
    )


def _served(query: Any, key: Any, value: Any, scale: float | None) -> bool:
    q, k, v = (tensor.transpose(0, 1).unsqueeze(0) for tensor in (query, key, value))
    return served(q, k, v, scale)
