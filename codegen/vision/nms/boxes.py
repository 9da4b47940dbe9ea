"""Boxes and scores of detections, among them some that are hard to get right."""

from __future__ import annotations

from enum import StrEnum
from math import isqrt

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array

_SIDES = 17  # of boxes: whole numbers below that
_SPACE = 6  # sides of a picture per root of its boxes
_CROWD = 24  # side of a crowded picture
_LEVELS = 64  # of scores
_SPECIAL_EVERY = 24
_SPECIAL_SCORES = (np.nan, np.inf, -np.inf, 0.0, -0.0)
_CLASSES, _MANY_CLASSES, _MANY = 3, 80, 1000  # so that some of few boxes are of one class
_WIDE = 1 << 32  # ids that differ beyond 32 bits


class Crowding(StrEnum):
    """How boxes lie."""

    SPREAD = "spread"  # over a picture that grows with their number: few overlap
    DENSE = "dense"  # in one place: most overlap many


def random_boxes(random: np.random.Generator, images: int, count: int, dtype: DType, crowding: Crowding) -> Array:
    """Corners that are whole numbers, so that many overlaps are simple fractions; equal boxes, and special ones."""
    side = _CROWD if crowding is Crowding.DENSE else _CROWD + _SPACE * isqrt(count)
    corner = random.integers(0, side, (images, count, 2))
    found = np.concatenate([corner, corner + random.integers(1, _SIDES, corner.shape)], axis=2).astype(np.float32)
    if count:
        flat = found.reshape(-1, 4)
        copied = random.integers(0, len(flat), (2, len(flat) // 16))
        flat[copied[0]] = flat[copied[1]]
        chosen = random.permutation(len(flat))[: len(flat) // _SPECIAL_EVERY]
        for number, place in enumerate(chosen):
            _SPECIAL_BOXES[number % len(_SPECIAL_BOXES)](flat[place])
    return found.astype(dtype.numpy)


def random_scores(random: np.random.Generator, images: int, count: int, dtype: DType) -> Array:
    """Of 64 levels, so that many are equal; some of them NaN, infinite, or a zero of either sign."""
    found = random.integers(0, _LEVELS, images * count).astype(np.float32) / _LEVELS
    chosen = random.permutation(found.size)[: found.size // _SPECIAL_EVERY]
    found[chosen] = np.resize(np.array(_SPECIAL_SCORES, np.float32), chosen.size)
    return found.reshape(images, count).astype(dtype.numpy)


def random_classes(random: np.random.Generator, images: int, count: int, dtype: DType) -> Array:
    """Few classes, and more of many boxes; 64-bit ids differ in their upper halves, too."""
    found = random.integers(0, _MANY_CLASSES if count >= _MANY else _CLASSES, (images, count)).astype(dtype.numpy)
    return found * dtype.numpy.type(_WIDE) + (found > 1) if dtype is DType.INT64 else found


def _without_area(box: Array) -> None:
    box[2] = box[0]


def _reversed(box: Array) -> None:
    box[[0, 2]] = box[[2, 0]]


def _turned(box: Array) -> None:
    box[[0, 1, 2, 3]] = box[[2, 3, 0, 1]]


def _not_a_number(box: Array) -> None:
    box[1] = np.nan


def _infinite(box: Array) -> None:
    box[2] = np.inf


_SPECIAL_BOXES = (_without_area, _reversed, _turned, _not_a_number, _infinite)
