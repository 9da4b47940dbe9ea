"""How users call rope."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.streaming.rope.problem import DTYPES, Angles, Positions, RopeProblem
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout

_POSITIONS = (DType.INT32, DType.INT64)


def rope(
    q: Any,
    k: Any,
    positions: Any = None,
    cos_sin_cache: Any = None,
    *,
    interleaved: bool = False,
    rotary_dim: int = 0,
    conj: bool = False,
    offset: int = 0,
    theta: float = 10000.0,
    factor: float = 1.0,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
    old_context: float = 8192.0,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """Rotary position embeddings of queries and keys, in one launch.

    The gradients of q and k are those of the results, rotated with ``conj=True``.

    Args:
        q: float32, bfloat16 or float16, of shape (…, heads, head_dim); all axes before the heads are tokens, evenly
            spaced. Elements of a head are contiguous, so that a slice of a packed QKV will do.
        k: the keys, with any number of heads (none, too) and otherwise of the shape and the dtype of `q`.
        positions: int32 or int64 for each token, or for each of the last axis of tokens, which all others share. By
            default a token's place along that axis.
        cos_sin_cache: float32 of shape (positions, rotary_dim): half of a row has cosines, the other half sines.
            Without it, angles are computed: position·theta^(-2i / rotary_dim) for pair i.
        interleaved: whether pairs are neighbours (GPT-J), rather than half of `rotary_dim` apart (GPT-NeoX, Llama).
        rotary_dim: elements of a head that are rotated, an even number, while the others are copied; 0 for all.
        conj: negate the angles.
        offset: is added to each place, if there are no `positions`.
        theta: the base of computed angles.
        factor: by which long wavelengths are stretched, as in Llama 3.1: those of more than old_context /
            low_freq_factor positions by all of it, those of less than old_context / high_freq_factor not at all.
        low_freq_factor: see `factor`.
        high_freq_factor: see `factor`; more than `low_freq_factor`.
        old_context: see `factor`.
        out: the two results, which may be `q` and `k`. By default new arrays of the library of `q`.

    Returns:
        The rotated q and k.
    """


def _types(
    q: Layout,
    k: Layout,
    positions: Layout | None,
    cos_sin_cache: Layout | None,
    interleaved: bool,
    rotary_dim: int,
    conj: bool,
) -> Mapping[str, ArrayType]:
    check_dtype("rope", "q", q, DTYPES)
    if len(q.shape) < 3:
        raise ValueError(f"q has shape {q.shape}: expected (…, heads, head_dim) with an axis of tokens before")
    if (k.shape[:-2], k.shape[-1:], k.dtype) != (q.shape[:-2], q.shape[-1:], q.dtype):
        raise ValueError(
            f"k has shape {k.shape} and dtype {k.dtype}: expected {q.shape} but for the heads, and {q.dtype}"
        )
    tokens = q.shape[:-2]
    if positions is not None and (positions.shape not in (tokens, tokens[-1:]) or positions.dtype not in _POSITIONS):
        raise ValueError(
            f"positions has shape {positions.shape} and dtype {positions.dtype}: "
            f"expected {tokens} or {tokens[-1:]}, and int32 or int64"
        )
    rotated = rotary_dim or q.shape[-1] // 2 * 2
    table = cos_sin_cache
    if table is not None and (len(table.shape) != 2 or table.shape[1] != rotated or table.dtype != DType.FLOAT32):
        raise ValueError(
            f"cos_sin_cache has shape {table.shape} and dtype {table.dtype}: "
            f"expected (positions, {rotated}) and float32"
        )
    return {"rotated_q": ArrayType(q.shape, q.dtype), "rotated_k": ArrayType(k.shape, k.dtype)}


def _bind(
    q: Layout,
    k: Layout,
    positions: Layout | None,
    cos_sin_cache: Layout | None,
    interleaved: bool,
    rotary_dim: int,
    conj: bool,
) -> Binding:
    tokens = q.shape[:-2]
    each = positions is not None and positions.shape == tokens
    problem = RopeProblem(
        batch=prod(tokens),
        heads_q=q.shape[-2],
        heads_k=k.shape[-2],
        head_dim=q.shape[-1],
        rotary_dim=rotary_dim,
        sequence=0 if each else tokens[-1],
        table_rows=cos_sin_cache.shape[0] if cos_sin_cache is not None else 0,
        dtype=DType(q.dtype),
        interleaved=interleaved,
        conj=conj,
        angles=Angles.COMPUTED if cos_sin_cache is None else Angles.TABLE,
        positions=Positions.OFFSET if positions is None else Positions(positions.dtype),
    )
    return Binding(problem, {"cos_sin_cache": "table", "rotated_q": "r", "rotated_k": "s"})


CALL = Call(
    declaration=rope,
    inputs=("q", "k", "positions", "cos_sin_cache"),
    outputs=("rotated_q", "rotated_k"),
    types=_types,
    bind=_bind,
    scalars=("offset", "theta", "factor", "low_freq_factor", "high_freq_factor", "old_context"),
    optional=("positions", "cos_sin_cache"),
    in_place=(("rotated_q", "q"), ("rotated_k", "k")),
)
