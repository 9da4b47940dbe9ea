"""What is wrong with the arrays of a call, whatever the operator."""

from __future__ import annotations

from collections.abc import Mapping

from autotune.dispatcher.arrays.views import View, overlap
from autotune.search_spaces.contract.call import ArrayType, Call

_WIDEST_ELEMENT = 16  # bytes that an address may have to be a multiple of

Views = Mapping[str, View]  # the arrays of a call that are not left out, by name


def check_views(call: Call, views: Views, types: Mapping[str, ArrayType]) -> None:
    """Check what does not depend on addresses; `types` are those of the outputs.

    Raises:
        TypeError: an output of another dtype.
        ValueError: an output of another shape; an array that is written and is read-only; arrays on several devices,
            or that are not aligned to an element.
    """
    for name in (*call.outputs, *call.updates):
        if name in views and views[name].readonly:
            raise ValueError(f"{name} is read-only")
    for name in call.outputs:
        if name in views:
            _check_output(name, views[name], types[name])
    out = call.required_written[0]
    for name, view in views.items():
        check_alignment(name, view)
        if view.device != views[out].device:
            raise ValueError(f"{name} is on {view.location} and {out} on {views[out].location}: expected one device")


def check_apart(call: Call, views: Views) -> None:
    """``ValueError`` if an array that is written overlaps another one, unless it may be the same one and is."""
    for written, other in call.apart:
        if written not in views or other not in views or not overlap(views[written], views[other]):
            continue
        if (written, other) not in call.in_place:
            raise ValueError(f"{written} overlaps {other}: pass memory of its own")
        if views[written].pointer != views[other].pointer or not same_layout(views[written], views[other]):
            raise ValueError(f"{written} overlaps {other} in part: pass {other} itself, or memory of its own")


def moved(call: Call, views: Views, addresses: tuple[float, ...]) -> Views:
    """Arrays of the same layouts at other addresses, which are in the order of `Call.arrays`."""
    at = dict(zip(call.arrays, addresses, strict=True))
    return {name: view._replace(pointer=int(at[name])) for name, view in views.items()}


def same_layout(first: View, second: View) -> bool:
    """Whether arrays at one address have each of their elements in common."""
    a, b = first.layout, second.layout
    return (a.shape, a.strides, a.itemsize) == (b.shape, b.strides, b.itemsize)


def _check_output(name: str, view: View, expected: ArrayType) -> None:
    if view.layout.dtype != expected.dtype:
        raise TypeError(f"{name} has dtype {view.layout.dtype}: expected {expected.dtype}")
    if view.layout.shape != expected.shape:
        raise ValueError(f"{name} has shape {view.layout.shape}: expected {expected.shape}")


def check_alignment(name: str, view: View) -> None:
    """``ValueError`` if an array is not aligned to its elements."""
    alignment, itemsize = view.layout.alignment, view.layout.itemsize
    if alignment < min(itemsize, _WIDEST_ELEMENT):
        raise ValueError(f"{name} is aligned to {alignment} B: expected at least {itemsize} B; pass a copy")
