"""What is wrong with the arrays of a call, whatever the operator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from autotune.codegen.model.lists import list_of
from autotune.dispatcher.arrays.views import View, overlap
from autotune.search_spaces.contract.call import ArrayType, Call

_WIDEST_ELEMENT = 16  # bytes that an address may have to be a multiple of

Views = Mapping[str, View]  # the arrays of a call that are not left out, by name, and elements of lists by theirs


def check_views(call: Call, views: Views, types: Mapping[str, ArrayType]) -> None:
    """Check what does not depend on addresses; `types` are those of the outputs, by the names of arrays.

    Raises:
        TypeError: an output of another dtype.
        ValueError: an output of another shape; an array that is written and is read-only; arrays on several devices,
            or that are not aligned to an element.
    """
    written = {*call.outputs, *call.updates}
    for name, view in views.items():
        if view.readonly and list_of(name) in written:
            raise ValueError(f"{name} is read-only")
    for name in {*call.lists} & {*call.outputs}:
        given, stated = ([one for one in names if list_of(one) == name] for names in (views, types))
        if len(given) != len(stated):
            raise ValueError(f"{name} has {len(given)} arrays: expected {len(stated)}")
    for name, expected in types.items():
        if name in views:
            _check_output(name, views[name], expected)
    out = next(name for name in views if list_of(name) == call.required_written[0])
    for name, view in views.items():
        check_alignment(name, view)
        if view.device != views[out].device:
            raise ValueError(f"{name} is on {view.location} and {out} on {views[out].location}: expected one device")


def check_apart(call: Call, views: Views) -> None:
    """``ValueError`` if an array that is written overlaps another one, unless it may be the same one and is."""
    for written, other in _near(call, views):
        if not overlap(views[written], views[other]):
            continue
        if (written, other) not in call.in_place:
            raise ValueError(f"{written} overlaps {other}: pass memory of its own")
        if views[written].pointer != views[other].pointer or not same_layout(views[written], views[other]):
            raise ValueError(f"{written} overlaps {other} in part: pass {other} itself, or memory of its own")


def _near(call: Call, views: Views) -> Iterator[tuple[str, str]]:
    """The pairs of `Call.apart` that may overlap. Of lists these are too many to be tried: neighbours are found."""
    if not call.lists:
        yield from (pair for pair in call.apart if pair[0] in views and pair[1] in views)
        return
    written, order = {*call.outputs, *call.updates}, {name: number for number, name in enumerate(views)}
    reaching: list[str] = []  # those that begin before an array and do not end there
    for name in sorted(views, key=lambda name: views[name].pointer):
        begin = views[name].pointer
        reaching = [one for one in reaching if views[one].pointer + views[one].layout.extent > begin]
        for other in reaching:
            first, second = sorted((name, other), key=order.__getitem__, reverse=True)
            if list_of(first) in written or list_of(second) in written:
                yield (first, second) if list_of(first) in written else (second, first)
        reaching.append(name)


def moved(names: Iterable[str], views: Views, addresses: tuple[float, ...]) -> Views:
    """Arrays of the same layouts at other addresses, which are in the order of `names`."""
    at = dict(zip(names, addresses, strict=True))
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
