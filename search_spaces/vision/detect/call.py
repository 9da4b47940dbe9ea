"""How users call detect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.vision.decode.problem import BINS, DTYPES, SIDES
from autotune.codegen.vision.detect.problem import DetectProblem
from autotune.search_spaces.contract.array_checks import check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def detect(
    head: Any,
    height: int = 640,
    width: int = 640,
    threshold: float = 0.25,
    iou_threshold: float = 0.7,
    *,
    capacity: int = 1024,
    max_output: int = 300,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The boxes of a detector without anchors that no better box of their class overlaps: ``decode``, then ``nms``.

    All of it is one program: no host waits in between, shapes are fixed, and the number of boxes stays on the device.

    Args:
        head: what the detector gives, see ``decode``.
        height: of the pictures in pixels, a multiple of 32.
        width: likewise.
        threshold: a box is one of a point whose best class is more likely than this.
        iou_threshold: the overlap up to which a box is kept.
        capacity: boxes of a picture that are compared, at most 4096: the first ones in the order of their points.
        max_output: boxes of a picture that are kept at most.
        out: the outputs as a tuple of contiguous arrays. By default new arrays of the library of `head`.

    Returns:
        The boxes that are kept, the highest score first, as left, top, right and bottom in pixels, float32 of shape
        (pictures, max_output, 4); their scores, float32; their classes and the points that they are of, int32; and how
        many they are of each picture, int32. Elements behind these are 0, and −1 for classes and points.
    """


def _types(head: Layout, capacity: int, max_output: int, **_: Any) -> Mapping[str, ArrayType]:
    check_dtype("detect", "head", head, DTYPES)
    if len(head.shape) != 3:
        raise ValueError(f"head has shape {head.shape}: expected (pictures, {SIDES * BINS} + classes, points)")
    if max_output < 0:
        raise ValueError(f"max_output={max_output}: expected 0 or more")
    if capacity < 0:
        raise ValueError(f"capacity={capacity}: expected 0 or more")
    each = (head.shape[0], max_output)
    return {
        "boxes": ArrayType((*each, SIDES), DType.FLOAT32),
        "scores": ArrayType(each, DType.FLOAT32),
        "ids": ArrayType(each, DType.INT32),
        "indices": ArrayType(each, DType.INT32),
        "kept": ArrayType(each[:1], DType.INT32),
    }


def _bind(head: Layout, height: int, width: int, capacity: int, max_output: int) -> Binding:
    batch, channels, points = head.shape
    problem = DetectProblem(
        height, width, channels - SIDES * BINS, capacity, batch, DType(head.dtype), max_output=max_output
    )
    if points != problem.points:
        raise ValueError(f"head has {points} points: expected {problem.points} of {height}x{width} pixels")
    return Binding(problem)


CALL = Call(
    declaration=detect,
    inputs=("head",),
    outputs=("boxes", "scores", "ids", "indices", "kept"),
    types=_types,
    bind=_bind,
    scalars=("threshold", "iou_threshold"),
)
