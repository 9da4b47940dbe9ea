"""How users call scale_boxes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.vision.letterbox.target import PLACEMENT
from autotune.codegen.vision.nms.problem import CORNERS
from autotune.codegen.vision.scale_boxes.problem import ScaleBoxesProblem
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def scale_boxes(boxes: Any, placement: Any, height: float, width: float, *, out: Any = None, stream: Any = None) -> Any:
    """Boxes in pixels of a target that ``letterbox`` made, in pixels of the pictures, whose sides cut them off.

    A corner less what is free ahead of the picture, over the picture's scale, each rounded to float32. A NaN becomes 0.

    Args:
        boxes: float32 of shape (…, boxes, 4), contiguous: left, top, right, bottom.
        placement: that of ``letterbox``, float32 of shape (…, 3).
        height: of the pictures in pixels.
        width: likewise.
        out: a contiguous array for the result, which is not `boxes`. By default a new one of the library of `boxes`.

    Returns:
        The boxes, of the shape of `boxes`.
    """


def _types(boxes: Layout, placement: Layout) -> Mapping[str, ArrayType]:
    check_dtype("scale_boxes", "boxes", boxes, (DType.FLOAT32,))
    if len(boxes.shape) < 2 or boxes.shape[-1] != CORNERS:
        raise ValueError(f"boxes has shape {boxes.shape}: expected (…, boxes, {CORNERS})")
    check_array("placement", placement, DType.FLOAT32, (*boxes.shape[:-2], PLACEMENT))
    return {"out": ArrayType(boxes.shape, DType.FLOAT32)}


def _bind(boxes: Layout) -> Binding:
    return Binding(ScaleBoxesProblem(boxes.shape[-2], prod(boxes.shape[:-2])), {"out": "scaled"})


CALL = Call(
    declaration=scale_boxes,
    inputs=("boxes", "placement"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=("height", "width"),
)
