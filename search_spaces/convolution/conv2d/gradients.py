"""The gradients of a convolution, by calls of operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import gcd
from typing import Any, NamedTuple

Steps = Mapping[str, tuple[int, ...]]  # stride, padding and dilation, of rows and of columns


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
    """That of images of a shape: by conv2d_input; of groups, or by Winograd's transforms, for each phase of rows and
    columns the convolution of a gradient with turned taps."""
    if kept["groups"] == 1 and not kept.get("allow_winograd"):
        known = {name: kept[name] for name in ("alpha", "allow_tf32")}
        return operators.conv2d_input(gradient, weight, tuple(shape[1:3]), **steps, **known)
    stride, padding, dilation = (steps[name] for name in ("stride", "padding", "dilation"))
    sides = (
        [*_phases(shape[1 + i], gradient.shape[1 + i], weight.shape[1 + i], stride[i], padding[i], dilation[i])]
        for i in range(2)
    )
    groups = kept["groups"]
    turned = weight.flip(1, 2).unflatten(0, (groups, -1)).permute(0, 4, 2, 3, 1).flatten(0, 1)
    found: Any = None
    for down, along in product(*sides):
        own = turned[:, _turned(down.taps, weight.shape[1]), _turned(along.taps, weight.shape[2])]
        part = operators.conv2d(
            gradient,
            own.contiguous(),
            padding=(down.padding, along.padding),
            dilation=(down.dilation, along.dilation),
            **kept,
        )[:, down.found, along.found]
        if part.shape[1:3] == tuple(shape[1:3]):
            return part.contiguous()
        found = gradient.new_zeros(shape) if found is None else found
        found[:, down.rows, along.rows] = part
    return gradient.new_zeros(shape) if found is None else found


def _turned(taps: slice, count: int) -> slice:
    """Where taps i, i + every, … are in a filter that is turned, from the last one on."""
    last = taps.start + (count - 1 - taps.start) // taps.step * taps.step
    return slice(count - 1 - last, count - taps.start, taps.step)
