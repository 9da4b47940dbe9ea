"""How users call decode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.vision.decode.problem import BINS, DTYPES, SIDES, DecodeProblem
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def decode(
    head: Any,
    height: int = 640,
    width: int = 640,
    threshold: float = 0.25,
    *,
    capacity: int = 4096,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The boxes that a detector without anchors sees: YOLO from v8 on.

    The order is that of the points, so there is one right answer. The number of boxes stays on the device.

    Args:
        head: float32, float16 or bfloat16 of shape (pictures, 64 + classes, points), contiguous: the logits of 16
            distances for the left, top, right and bottom side of each point's box, then those of its classes. Points
            are those of three levels, one behind the other, with 8, 16 and 32 pixels from one to the next.
        height: of the pictures in pixels, a multiple of 32.
        width: likewise.
        threshold: a box is one of a point whose best class is more likely than this.
        capacity: boxes of a picture that there is room for.
        out: the outputs as a tuple of contiguous arrays. By default new arrays of the library of `head`.

    Returns:
        Boxes as left, top, right and bottom in pixels, float32 of shape (pictures, capacity, 4); their scores, float32;
        their classes, int32; the points that they are of, int32; and how many there are of each picture, int32, which
        may be more than there is room for. Elements behind so many are left as they were.
    """


def _types(head: Layout, capacity: int, **_: Any) -> Mapping[str, ArrayType]:
    check_dtype("decode", "head", head, DTYPES)
    if len(head.shape) != 3:
        raise ValueError(f"head has shape {head.shape}: expected (pictures, {SIDES * BINS} + classes, points)")
    return result_types(head.shape[0], capacity)


def result_types(batch: int, capacity: int) -> Mapping[str, ArrayType]:
    """Of boxes, scores, classes, points, and how many there are of each picture."""
    if capacity < 0:
        raise ValueError(f"capacity={capacity}: expected 0 or more")
    each = (batch, capacity)
    return {
        "boxes": ArrayType((*each, SIDES), DType.FLOAT32),
        "scores": ArrayType(each, DType.FLOAT32),
        "ids": ArrayType(each, DType.INT32),
        "indices": ArrayType(each, DType.INT32),
        "count": ArrayType((batch,), DType.INT32),
    }


def _bind(head: Layout, height: int, width: int, capacity: int) -> Binding:
    batch, channels, points = head.shape
    problem = DecodeProblem(height, width, channels - SIDES * BINS, capacity, batch, DType(head.dtype))
    if points != problem.points:
        raise ValueError(f"head has {points} points: expected {problem.points} of {height}x{width} pixels")
    return Binding(problem)


CALL = Call(
    declaration=decode,
    inputs=("head",),
    outputs=("boxes", "scores", "ids", "indices", "count"),
    types=_types,
    bind=_bind,
    scalars=("threshold",),
)
