"""Calls of sampling from probabilities, by the names that FlashInfer gave them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def sampling_from_probs(
    probs: Any, seed: int, offset: int = 0, *, state: Any = None, out: Any = None, stream: Any = None
) -> Mapping[str, Any]:
    """A token for each row of probabilities, by ``sampling``.

    Args:
        probs: probabilities, which need not add up to 1.
        seed, offset, state, out: see ``sampling``.
    """
    return _arguments(probs, seed, offset, state, out, stream)


def top_k_sampling_from_probs(
    probs: Any, top_k: Any, seed: int, offset: int = 0, *, state: Any = None, out: Any = None, stream: Any = None
) -> Mapping[str, Any]:
    """A token for each row among its `top_k` first ones, by ``sampling``.

    Args:
        probs: probabilities, which need not add up to 1.
        top_k, seed, offset, state, out: see ``sampling``.
    """
    return _arguments(probs, seed, offset, state, out, stream, top_k=top_k)


def top_p_sampling_from_probs(
    probs: Any, top_p: Any, seed: int, offset: int = 0, *, state: Any = None, out: Any = None, stream: Any = None
) -> Mapping[str, Any]:
    """A token for each row among its first ones whose share is `top_p`, by ``sampling``.

    Args:
        probs: probabilities, which need not add up to 1.
        top_p, seed, offset, state, out: see ``sampling``.
    """
    return _arguments(probs, seed, offset, state, out, stream, top_p=top_p)


def min_p_sampling_from_probs(
    probs: Any, min_p: Any, seed: int, offset: int = 0, *, state: Any = None, out: Any = None, stream: Any = None
) -> Mapping[str, Any]:
    """A token for each row among those of `min_p` of the largest probability or more, by ``sampling``.

    Args:
        probs: probabilities, which need not add up to 1.
        min_p, seed, offset, state, out: see ``sampling``.
    """
    return _arguments(probs, seed, offset, state, out, stream, min_p=min_p)


def top_k_top_p_sampling_from_probs(
    probs: Any,
    top_k: Any,
    top_p: Any,
    seed: int,
    offset: int = 0,
    *,
    state: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Mapping[str, Any]:
    """A token for each row among its `top_k` first ones, and of these the first whose share is `top_p`.

    By ``sampling``.

    Args:
        probs: probabilities, which need not add up to 1.
        top_k, top_p, seed, offset, state, out: see ``sampling``.
    """
    return _arguments(probs, seed, offset, state, out, stream, top_k=top_k, top_p=top_p)


def _arguments(
    probs: Any, seed: int, offset: int, state: Any, out: Any, stream: Any, **parameters: Any
) -> Mapping[str, Any]:
    common = {"logits": probs, "seed": seed, "offset": offset, "source": "probs", "state": state}
    return {**common, **parameters, "out": out, "stream": stream}


FROM_PROBS = (
    sampling_from_probs,
    top_k_sampling_from_probs,
    top_p_sampling_from_probs,
    min_p_sampling_from_probs,
    top_k_top_p_sampling_from_probs,
)
