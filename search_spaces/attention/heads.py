"""The caller's arrays as heads of queries, keys and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.problem import DTYPES, MOST_DIM
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.strided import Axes
from autotune.search_spaces.contract.array_checks import check_array
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields

_ORDERS = ("bshd", "bhsd")
PACKED = "shd"  # the order of axes of sequences that lie one behind the other


def check_order(order: str) -> None:
    """``ValueError`` for another order of axes than there may be."""
    if order not in _ORDERS:
        raise ValueError(f"order={order!r}: expected {' or '.join(_ORDERS)}")


def extents(name: str, layout: Layout, order: str) -> dict[str, int]:
    """The extent of each axis of an operand.

    Raises:
        ValueError: it has more axes or fewer.
    """
    if len(layout.shape) != len(order):
        raise ValueError(f"{name} has shape {layout.shape}: expected {len(order)} axes, {order}")
    return dict(zip(order, layout.shape, strict=True))


def check_heads(
    q: Layout, k: Layout, v: Layout, sinks: Layout | None, order: str, most: int = MOST_DIM
) -> dict[str, int]:
    """The extents of o, for operands whose dtypes, heads and elements of heads, at most so many, go together.

    Raises:
        TypeError: of dtypes.
        ValueError: of anything else.
    """
    if q.dtype not in DTYPES or (k.dtype, v.dtype) != (q.dtype, q.dtype):
        raise TypeError(
            f"q, k and v have dtypes {q.dtype}, {k.dtype} and {v.dtype}: expected one of {', '.join(DTYPES)}"
        )
    of_q, of_k, of_v = (extents(name, one, order) for name, one in (("q", q), ("k", k), ("v", v)))
    if any(of_k[axis] != of_q[axis] for axis in order if axis in "bd"):
        raise ValueError(f"k has shape {k.shape}: expected the batch and head_dim of q, {q.shape}")
    if any(of_v[axis] != of_k[axis] for axis in order if axis != "d"):
        raise ValueError(f"v has shape {v.shape}: expected that of k, {k.shape}, but for the elements of a head")
    if not 1 <= of_q["d"] <= most or not 1 <= of_v["d"] <= most:
        raise ValueError(f"q has shape {q.shape} and v {v.shape}: expected heads of 1 to {most} elements")
    if not of_k["h"] or of_q["h"] % of_k["h"]:
        raise ValueError(f"k has shape {k.shape}: expected heads that divide the {of_q['h']} of q")
    check_array("sinks", sinks, DType.FLOAT32, (of_q["h"],))
    return of_q | {"d": of_v["d"]}


def head_fields(q: Layout, k: Layout, v: Layout, order: str) -> dict[str, Any]:
    """The fields of a problem that say how many heads of which kind there are."""
    of_q, of_k, of_v = (extents(name, one, order) for name, one in (("q", q), ("k", k), ("v", v)))
    return {
        "queries": of_q["s"],
        "keys": of_k["s"],
        "heads": of_q["h"],
        "heads_kv": of_k["h"],
        "head_dim": of_q["d"],
        "value_dim": of_v["d"],
        "dtype": DType(q.dtype),
    }


def operand_fields(
    operands: Mapping[str, Axes], arrays: Mapping[str, tuple[str, Layout]], order: str
) -> dict[str, Any]:
    """The fields of a problem that say where operands are: arrays with their names, by operand.

    Those of packed sequences, in the order ``shd``, have one batch.
    """
    found: dict[str, Any] = {}
    if order == PACKED:
        order = f"b{order}"
        arrays = {operand: (name, _of_one_batch(layout)) for operand, (name, layout) in arrays.items()}
    for operand, (name, layout) in arrays.items():
        axes = operands[operand]
        named = dict(zip("bshd", axes.order, strict=True))
        found |= stride_fields(name, layout, operand, axes, "".join(named[axis] for axis in order))
    return found


def check_offsets(q: Layout, k: Layout, offsets: Layout, offsets_k: Layout | None) -> None:
    """Refuse offsets of packed sequences that do not go with q and k.

    Raises:
        ValueError: of shapes or dtypes.
    """
    if offsets.dtype != DType.INT32 or len(offsets.shape) != 1 or offsets.shape[0] < 2:
        raise ValueError(
            f"offsets has dtype {offsets.dtype} and shape {offsets.shape}: expected two or more of {DType.INT32}"
        )
    check_array("offsets_k", offsets_k, DType.INT32, offsets.shape)
    if offsets_k is None and k.shape[0] != q.shape[0]:
        raise ValueError(f"k has shape {k.shape}: expected the {q.shape[0]} rows of q, or offsets_k")


def _of_one_batch(layout: Layout) -> Layout:
    return layout._replace(shape=(1, *layout.shape), strides=(0, *layout.strides))
