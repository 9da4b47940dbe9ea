"""What attention is, in float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Tensor


def of_rows(
    tensors: Mapping[str, Tensor],
    inputs: Mapping[str, Array],
    rows: Array,
    seen: Callable[[int, Array], Array],
    changed: Callable[[Array, int, int, Array], tuple[Array, Array]],
    *,
    scale: float,
    softcap: float,
    flushed: float,
) -> dict[str, Array]:
    """o, o_scale and, if there is a tensor of it, lse of some rows (b, s, h); those of others are 0.

    The scale of an element of o is Σp|v|, and |o|, for both the weights p and o are rounded to the type of o, and what
    weights lose that are too small for it.

    Args:
        tensors: of the problem, by name.
        inputs: their buffers.
        rows: their numbers.
        seen: of a sequence, for each of some queries, which keys it sees.
        changed: of scores of some queries of a sequence and a head, what becomes of them, and which keys these see.
        scale, softcap: the scalars; a softcap of 0 is none.
        flushed: the weight of Σ|v| / Σe^s in the scale.
    """
    q, k, v = (tensors[name].view(inputs[name]) for name in "qkv")
    found = {name: np.zeros(tensors["o"].size) for name in ("o", "o_scale")}
    o, o_scale = (tensors["o"].view(found[name]) for name in ("o", "o_scale"))
    lse = np.zeros(q.shape[:-1])
    sequences, places, heads = np.unravel_index(rows, lse.shape)
    for b, h in sorted({*zip(sequences.tolist(), heads.tolist(), strict=True)}):
        own = places[(sequences == b) & (heads == h)]
        g = h // (q.shape[2] // k.shape[2])
        scores = q[b, own, h].astype(np.float64) @ k[b, :, g].astype(np.float64).T * scale
        scores = softcap * np.tanh(scores / softcap) if softcap else scores
        scores, let = changed(scores, b, h, own)
        kept = seen(b, own) & let
        scores[~kept] = -np.inf
        sink = float(inputs["sinks"][h]) if "sinks" in tensors else -np.inf
        largest = np.maximum(scores.max(axis=1, initial=-np.inf), sink)[:, None]
        weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
        with np.errstate(divide="ignore"):
            sums = weights.sum(axis=1, keepdims=True) + (np.exp(sink - largest) if sink > -np.inf else 0.0)
            lse[b, own, h] = (largest + np.log(sums))[:, 0]
        values, divisor = v[b, :, g].astype(np.float64), np.where(sums == 0, 1, sums)
        o[b, own, h] = weights @ values / divisor
        lost = flushed * kept @ np.abs(values)
        o_scale[b, own, h] = np.abs(o[b, own, h]) + (weights @ np.abs(values) + lost) / divisor
    if "lse" in tensors:
        found["lse"] = np.zeros(tensors["lse"].size)
        tensors["lse"].view(found["lse"])[...] = lse
    return found
