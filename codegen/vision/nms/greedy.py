"""Greedy non-maximum suppression in NumPy, rounded as the kernels round."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.problem import Array

_Floats = npt.NDArray[np.float32]


def kept_boxes(
    boxes: _Floats, scores: _Floats, classes: Array | None, iou_threshold: float, score_threshold: float, most: int
) -> list[int]:
    """The first `most` of the boxes of an image that are kept, the highest score first, of equal ones the first box.

    Scores below the threshold, and NaN, are left out. A box is kept unless it overlaps one of its class that was kept
    before it by more than the threshold.
    """
    left = np.flatnonzero(scores >= np.float32(score_threshold))
    left = left[np.argsort(-scores[left], kind="stable")]
    ids = np.zeros(len(scores), np.int64) if classes is None else classes
    earlier = {
        one: np.empty((count, 4), np.float32) for one, count in zip(*np.unique(ids, return_counts=True), strict=True)
    }
    numbers = dict.fromkeys(earlier, 0)
    kept: list[int] = []
    for box, one in zip(left.tolist(), ids[left].tolist(), strict=True):
        if len(kept) == most:
            break
        if not (overlap(boxes[box], earlier[one][: numbers[one]]) > np.float32(iou_threshold)).any():
            earlier[one][numbers[one]] = boxes[box]
            numbers[one] += 1
            kept.append(box)
    return kept


def overlap(box: _Floats, others: _Floats) -> _Floats:
    """Intersection over union of a box with others, in float32: each operation is rounded, and nothing is fused.

    Corners are left, top, right, bottom. Sides of the intersection are 0 at least, areas may be negative.
    """
    with np.errstate(all="ignore"):
        sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
        width, height = np.maximum(sides, np.float32(0)).T
        shared = width * height
        found: _Floats = shared / ((_area(box) + _area(others)) - shared)
    return found


def _area(boxes: _Floats) -> _Floats:
    found: _Floats = (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    return found
