"""The caller's caches of keys and values, which are made of pages."""

from __future__ import annotations

from autotune.codegen.model.strided import Axes
from autotune.search_spaces.contract.layouts import Layout

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
