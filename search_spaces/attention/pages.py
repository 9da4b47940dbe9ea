"""The caller's caches of keys and values, which are made of pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.cache import SCALE_AXES, Cache, Scales
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.strided import Axes
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.strides import stride_fields

_ORDERS = ("nhd", "hnd")


def check_page_order(order: str) -> None:
    """``ValueError`` for another order of axes than there may be."""
    if order not in _ORDERS:
        raise ValueError(f"order={order!r}: expected {' or '.join(_ORDERS)}")


def page_axes(name: str, layout: Layout, order: str) -> dict[str, int]:
    """The extent of each axis of a cache: p pages of n places of h heads of d elements.

    Raises:
        ValueError: it has more axes or fewer.
    """
    if len(layout.shape) != 4:
        raise ValueError(f"{name} has shape {layout.shape}: expected 4 axes, pages and {order}")
    return dict(zip(f"p{order}", layout.shape, strict=True))


def page_order(axes: Axes, order: str) -> str:
    """The axes of a cache's operand, which are pages, places, heads and elements, in the order of the caller's."""
    return "".join(dict(zip("pnhd", axes.order, strict=True))[axis] for axis in f"p{order}")


def check_scales(
    dtype: str, k_cache: Layout, v_cache: Layout, k_scale: Layout | None, v_scale: Layout | None, order: str
) -> None:
    """Refuse caches and scales that do not go together, for numbers of a dtype outside of the caches.

    Raises:
        TypeError: of dtypes.
        ValueError: of scales.
    """
    codes = {one.stored(DType(dtype)) for one in Cache}
    if k_cache.dtype != v_cache.dtype or DType(k_cache.dtype) not in codes:
        raise TypeError(
            f"k_cache and v_cache have dtypes {k_cache.dtype} and {v_cache.dtype}: expected the same, "
            f"{' or '.join(sorted(codes))}"
        )
    quantised = k_cache.dtype != dtype
    for name, one in (("k_scale", k_scale), ("v_scale", v_scale)):
        if (one is None) == quantised:
            raise ValueError(f"{name} is{'' if one is None else ' not'} None: expected scales of codes alone")
    if k_scale is None or v_scale is None:
        return
    heads = page_axes("k_cache", k_cache, order)["h"]
    for name, one in (("k_scale", k_scale), ("v_scale", v_scale)):
        if one.dtype != DType.FLOAT32 or one.shape not in ((1,), (heads,), k_cache.shape[:-1]):
            raise ValueError(
                f"{name} has dtype {one.dtype} and shape {one.shape}: expected float32 of shape (1,), ({heads},) "
                f"or {k_cache.shape[:-1]}"
            )
    if k_scale.shape != v_scale.shape:
        raise ValueError(f"v_scale has shape {v_scale.shape}: expected that of k_scale, {k_scale.shape}")


def scale_fields(scales: Mapping[str, Layout | None], order: str) -> tuple[Scales, dict[str, Any]]:
    """What has scales of its own, and the fields of a problem that say where they are: arrays by operand."""
    kind, fields = Scales.TENSOR, dict[str, Any]()
    for operand, one in scales.items():
        if one is None:
            continue
        if len(one.shape) > 1:
            kind = Scales.TOKEN
        elif one.shape[0] > 1:
            kind = Scales.HEAD
        missing = 3 - len(one.shape)
        shape, strides = (1,) * missing + one.shape, (1,) * missing + one.strides
        axes = page_order(SCALE_AXES, order) if kind is Scales.TOKEN else SCALE_AXES.order
        whole = one._replace(shape=(*shape, 1), strides=(*strides, 1))
        fields |= stride_fields(operand, whole, operand, SCALE_AXES, axes)
    return kind, fields
