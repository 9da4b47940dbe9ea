"""The gradients of a convolution, by calls of operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import gcd
from typing import Any, NamedTuple

Steps = Mapping[str, tuple[int, ...]]  # stride, padding and dilation, of rows and of columns, or of slices before them
AXES = 4  # of images without a depth


class _Phase(NamedTuple):
    """The rows, or columns, of images that see a filter's taps alike: every `stride`-th one.

    Their gradient is a convolution of that of the result with these taps, turned.

    Attributes:
        taps: of the filter.
        dilation, padding: of the convolution.
        found: what counts of its result.
        rows: where that belongs.
    """

    taps: slice
    dilation: int
    padding: int
    found: slice
    rows: slice


def _phases(extent: int, out: int, taps: int, stride: int, padding: int, dilation: int) -> Iterator[_Phase]:
    """Those of a side of images that some tap sees.

    Under tap r, row p of the result sees row h = p·stride + r·dilation - padding. Of the taps i, i + every, …, with
    r·dilation = e·stride + a, these are the rows h = u·stride + a - padding for p = u - e.
    """
    every, apart = stride // gcd(stride, dilation), dilation // gcd(stride, dilation)
    for first in range(min(taps, every)):
        nearest, behind = divmod(first * dilation, stride)  # e and a of the first tap
        count = (taps - first - 1) // every + 1
        reach = (count - 1) * apart
        lowest, highest = -((behind - padding) // stride), (extent - 1 + padding - behind) // stride  # u
        begin, end = lowest - nearest - reach, highest - nearest - reach  # p under the last tap
        beside = max(0, -begin, min(end, out - 1) + reach - (out - 1))
        length = min(end + beside + 1, out + 2 * beside - reach) - (begin + beside)
        if length > 0:
            row = lowest * stride + behind - padding
            yield _Phase(
                slice(first, None, every),
                apart,
                beside,
                slice(begin + beside, begin + beside + length),
                slice(row, row + (length - 1) * stride + 1, stride),
            )


def of_images(
    operators: Any, gradient: Any, weight: Any, shape: Sequence[int], steps: Steps, kept: Mapping[str, Any]
) -> Any:
    """That of images of a shape: by conv2d_input; of groups, by Winograd's transforms, or with a depth, for each phase
    of rows and columns, and of slices, the convolution of a gradient with turned taps."""
    deep = len(shape) == AXES + 1
    if not deep and kept["groups"] == 1 and not kept.get("allow_winograd"):
        known = {name: kept[name] for name in ("alpha", "allow_tf32")}
        return operators.conv2d_input(gradient, weight, tuple(shape[1:-1]), **steps, **known)
    sides = (
        [*_phases(*side)]
        for side in zip(
            *(shape[1:-1], gradient.shape[1:-1], weight.shape[1:-1]),
            *(steps[name] for name in ("stride", "padding", "dilation")),
            strict=True,
        )
    )
    turned = weight.flip(*range(1, len(shape) - 1)).unflatten(0, (kept["groups"], -1)).transpose(1, -1).flatten(0, 1)
    found: Any = None
    for phases in product(*sides):
        taps = (_turned(one.taps, count) for one, count in zip(phases, weight.shape[1:-1], strict=True))
        part = (operators.conv3d if deep else operators.conv2d)(
            gradient,
            turned[:, *taps].contiguous(),
            padding=tuple(one.padding for one in phases),
            dilation=tuple(one.dilation for one in phases),
            **kept,
        )[:, *(one.found for one in phases)]
        if part.shape[1:-1] == tuple(shape[1:-1]):
            return part.contiguous()
        found = gradient.new_zeros(shape) if found is None else found
        found[:, *(one.rows for one in phases)] = part
    return gradient.new_zeros(shape) if found is None else found


def of_filters(
    operators: Any, images: Any, gradient: Any, kernel: Sequence[int], steps: Steps, kept: Mapping[str, Any]
) -> Any:
    """That of filters with such a kernel: by conv2d_weight; with a depth, for each slice of them, of the slices of
    images that it sees, which are copied unless they lie evenly spaced in memory."""
    if len(kernel) == AXES - 2:
        return operators.conv2d_weight(images, gradient, tuple(kernel), **steps, **kept)
    stride, padding, dilation = (steps[name][0] for name in ("stride", "padding", "dilation"))
    across = {name: values[1:] for name, values in steps.items()}
    shape = (gradient.shape[-1], *kernel, images.shape[-1] // kept["groups"])
    found = images.new_zeros(shape)
    for tap in range(kernel[0]):
        first = tap * dilation - padding  # the slice that the first one of the result sees
        begin, end = max(0, -(first // stride)), min(gradient.shape[1], (images.shape[1] - 1 - first) // stride + 1)
        if begin < end:
            seen = images[:, first + begin * stride : first + (end - 1) * stride + 1 : stride].flatten(0, 1)
            given = gradient[:, begin:end].flatten(0, 1)
            found[:, tap] = operators.conv2d_weight(seen, given, tuple(kernel[1:]), **across, **kept)
    return found


def _turned(taps: slice, count: int) -> slice:
    """Where taps i, i + every, … are in a filter that is turned, from the last one on."""
    last = taps.start + (count - 1 - taps.start) // taps.step * taps.step
    return slice(count - 1 - last, count - taps.start, taps.step)
