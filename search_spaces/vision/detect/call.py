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
from autotune.search_spaces.vision.decode.call import result_types


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
    """``decode``, then ``nms`` of its boxes within their classes, as one program: no host waits in between.

    Args:
        head, height, width, threshold: see ``decode``.
        iou_threshold: the overlap up to which a box is kept.
        capacity: boxes of a picture that there is room for, at most 4096; those beyond do not count.
        max_output: boxes of a picture that are kept at most.
        out: the outputs as a tuple of contiguous arrays. By default new arrays of the library of `head`.

    Returns:
        The five outputs of ``decode``; the numbers of the boxes that are kept, the highest score first, int64 of shape
        (pictures, max_output); and how many these are, int32. Elements behind so many are left as they were.
    """


def _types(head: Layout, capacity: int, max_output: int, **_: Any) -> Mapping[str, ArrayType]:
    check_dtype("detect", "head", head, DTYPES)
    if len(head.shape) != 3:
        raise ValueError(f"head has shape {head.shape}: expected (pictures, {SIDES * BINS} + classes, points)")
    if max_output < 0:
        raise ValueError(f"max_output={max_output}: expected 0 or more")
    batch = head.shape[0]
    return {
        **result_types(batch, capacity),
        "chosen": ArrayType((batch, max_output), DType.INT64),
        "kept": ArrayType((batch,), DType.INT32),
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
    outputs=("boxes", "scores", "ids", "indices", "count", "chosen", "kept"),
    types=_types,
    bind=_bind,
    scalars=("threshold", "iou_threshold"),
)
