"""How pixels of a larger or smaller picture are made, in NumPy, rounded as the kernels round."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.problem import Array

_ONE = 2048  # of weights that are whole numbers (OpenCV's INTER_RESIZE_COEF_SCALE)


class Rule(StrEnum):
    """Which pixels make one: two along each axis, or as many as a filter has."""

    CV2 = "cv2"  # OpenCV's INTER_LINEAR of bytes: centres of pixels meet, weights are whole numbers
    HALF_PIXEL = "half_pixel"  # the same in float32, and not rounded to whole levels
    CORNER = "corner"  # corners of pictures meet
    AREA = "area"  # the mean of what a pixel of the target covers
    TRIANGLE = "triangle"  # linear weights, by a filter as wide as two pixels: the larger ones of both pictures
    BICUBIC = "bicubic"  # cubic ones, likewise as wide as four

    @property
    def filtered(self) -> bool:
        """Whether there are as many pixels as a filter has."""
        return self in (Rule.AREA, Rule.TRIANGLE, Rule.BICUBIC)


class Place(NamedTuple):
    """Where a picture lies in a target: its scale, its size there, and how far from the left and from the top."""

    ratio: float
    height: int
    width: int
    left: int
    top: int


def placed(height: int, width: int, target: tuple[int, int], scale_up: bool, center: bool) -> Place:
    """The largest size of a picture with its sides' ratio that a target of some height and width has room for."""
    if not height or not width:
        return Place(0.0, 0, 0, 0, 0)
    ratio = min(target[0] / height, target[1] / width)
    if not scale_up:
        ratio = min(ratio, 1.0)
    tall, wide = (max(1, round(side * ratio)) for side in (height, width))
    left, top = ((target[1] - wide) // 2, (target[0] - tall) // 2) if center else (0, 0)
    return Place(ratio, tall, wide, left, top)


def resized(image: npt.NDArray[np.uint8], height: int, width: int, rule: Rule) -> npt.NDArray[np.float32]:
    """A picture of three channels in another size, as levels from 0 to 255."""
    if rule.filtered:
        return _by_filters(image, height, width, rule)
    rows = _taps(image.shape[0], height, rule, at_edges=rule is Rule.CV2)
    columns = _taps(image.shape[1], width, rule, at_edges=False)
    if rule is Rule.CV2:
        return _by_whole_numbers(image.astype(np.int32), rows, columns)
    return _by_fractions(image.astype(np.float32), rows, columns)


class _Taps(NamedTuple):
    """Of each row (or column) of a target, two of a picture, and how near the second one is."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    fraction: npt.NDArray[np.float32]


def _taps(size: int, target: int, rule: Rule, *, at_edges: bool) -> _Taps:
    """`at_edges`: whether there is a fraction where both taps are the same row. OpenCV rounds twice there."""
    step, number = 1 / (target / size), np.arange(target)
    where = number * (size / target) if rule is Rule.CORNER else (number + 0.5) * step - 0.5
    where = where.astype(np.float32)
    below = np.floor(where)
    first = below.astype(np.int64)
    first, second = first.clip(0, size - 1), (first + 1).clip(0, size - 1)
    fraction = where - below
    return _Taps(first, second, fraction if at_edges else np.where(first == second, np.float32(0), fraction))


def _by_whole_numbers(image: Array, rows: _Taps, columns: _Taps) -> npt.NDArray[np.float32]:
    """OpenCV's HResizeLinear and VResizeLinear of bytes (modules/imgproc/src/resize.cpp)."""

    def weights(taps: _Taps) -> list[Array]:
        return [np.rint(part * np.float32(_ONE)).astype(np.int32) for part in (1 - taps.fraction, taps.fraction)]

    near, far = (part[:, None] for part in weights(columns))
    across = (image[:, columns.first] * near + image[:, columns.second] * far) >> 4
    above, below = (part[:, None, None] for part in weights(rows))
    found = ((above * across[rows.first] >> 16) + (below * across[rows.second] >> 16) + 2) >> 2
    levels: npt.NDArray[np.float32] = found.astype(np.float32)
    return levels


def _by_fractions(image: Array, rows: _Taps, columns: _Taps) -> npt.NDArray[np.float32]:
    def mixed(one: Array, other: Array, fraction: Array) -> npt.NDArray[np.float32]:
        found: npt.NDArray[np.float32] = one * (1 - fraction) + other * fraction
        return found

    across = mixed(image[:, columns.first], image[:, columns.second], columns.fraction[:, None])
    return mixed(across[rows.first], across[rows.second], rows.fraction[:, None, None])


class _Filters(NamedTuple):
    """Of each row (or column) of a target, the first of a picture that has a weight, and all weights: (taps, rows)."""

    first: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]


def _by_filters(image: npt.NDArray[np.uint8], height: int, width: int, rule: Rule) -> npt.NDArray[np.float32]:
    """Rows are made narrow first. Sums begin at the left and at the top, and are divided by that of the weights."""
    narrow = _filtered(image.astype(np.float32).swapaxes(0, 1), width, rule).swapaxes(0, 1)
    levels = _filtered(narrow, height, rule)
    return levels.clip(0, 255) if rule is Rule.BICUBIC else levels


def _filtered(image: Array, target: int, rule: Rule) -> npt.NDArray[np.float32]:
    """Another number of rows."""
    filters = (_covered if rule is Rule.AREA else _reached)(len(image), target, rule)
    sums, totals = np.zeros((target, *image.shape[1:]), np.float32), np.zeros((target, 1, 1), np.float32)
    for tap, weights in enumerate(filters.weights[..., None, None]):
        sums += weights * image[(filters.first + tap).clip(0, len(image) - 1)]
        totals += weights
    sums /= totals
    return sums


def _covered(size: int, target: int, rule: Rule) -> _Filters:
    """How much of each row one of the target covers."""
    edges = np.arange(target + 1) * (size / target)
    first = edges[:-1].astype(np.int64)
    begin, end = ((side - first).astype(np.float32) for side in (edges[:-1], edges[1:]))
    count = np.minimum(np.ceil(edges[1:]).astype(np.int64), size) - first
    taps = np.arange(count.max())[:, None]
    weights = np.minimum((taps + 1).astype(np.float32), end) - np.maximum(taps.astype(np.float32), begin)
    return _Filters(first, np.where(taps < count, weights, np.float32(0)))


def _reached(size: int, target: int, rule: Rule) -> _Filters:
    """By how far the centre of each row is from that of one of the target."""
    step = size / target
    stretch, center = max(step, 1.0), (np.arange(target) + 0.5) * step
    reach = stretch * (2 if rule is Rule.BICUBIC else 1)
    first = np.maximum(np.floor(center - reach + 0.5).astype(np.int64), 0)
    count = np.minimum(np.floor(center + reach + 0.5).astype(np.int64), size) - first
    taps = np.arange(count.max())[:, None]
    far = np.abs(((first + 0.5 - center).astype(np.float32) + taps.astype(np.float32)) * np.float32(1 / stretch))
    weights = _cubic(far) if rule is Rule.BICUBIC else np.maximum(1 - far, np.float32(0))
    return _Filters(first, np.where(taps < count, weights, np.float32(0)))


def _cubic(far: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Catmull and Rom's: its slope at 1 is −½."""
    one, half = np.float32(1), np.float32(-0.5)
    near = (far * np.float32(1.5) + np.float32(-2.5)) * far * far + one
    beyond = (((far + np.float32(-5)) * far + np.float32(8)) * far + np.float32(-4)) * half
    return np.where(far < 1, near, np.where(far < 2, beyond, np.float32(0)))
