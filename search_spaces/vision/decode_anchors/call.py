"""How users call decode_anchors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.vision.decode.problem import DTYPES, STRIDES
from autotune.codegen.vision.decode_anchors.problem import AHEAD, ANCHORS, AnchorsProblem
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.vision.decode.call import result_types


def decode_anchors(
    head8: Any,
    head16: Any,
    head32: Any,
    anchors: Any,
    threshold: float = 0.25,
    *,
    capacity: int = 4096,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The boxes that a detector with anchors sees: YOLOv5 and v7.

    The order is that of levels, anchors, rows and columns, so there is one right answer. The number of boxes stays on
    the device.

    Args:
        head8: float32, float16 or bfloat16 of shape (pictures, 3 · (5 + classes), height / 8, width / 8), contiguous:
            of each anchor, logits of the center of a box, x and y, of its width and its height, of it being one, and of
            its classes.
        head16: the level of half as many rows and columns.
        head32: that of a quarter.
        anchors: float32 of shape (3, 3, 2): of each level, widths and heights of three boxes in pixels.
        threshold: a box counts if the product of being one and of its best class is more likely than this.
        capacity: boxes of a picture that there is room for.
        out: the outputs as a tuple of contiguous arrays. By default new arrays of the library of `head8`.

    Returns:
        Boxes as left, top, right and bottom in pixels, float32 of shape (pictures, capacity, 4); their scores, float32;
        their classes, int32; their numbers among all boxes, int32; and how many there are of each picture, int32, which
        may be more than there is room for. Elements behind so many are left as they were.
    """


def _types(
    head8: Layout, head16: Layout, head32: Layout, anchors: Layout, capacity: int, **_: Any
) -> Mapping[str, ArrayType]:
    check_dtype("decode_anchors", "head8", head8, DTYPES)
    if len(head8.shape) != 4 or head8.shape[1] % ANCHORS:
        raise ValueError(
            f"head8 has shape {head8.shape}: expected (pictures, {ANCHORS} · ({AHEAD} + classes), rows, columns)"
        )
    batch, channels, rows, columns = head8.shape
    for name, head, times in (("head16", head16, 2), ("head32", head32, 4)):
        check_array(name, head, head8.dtype, (batch, channels, rows // times, columns // times))
    check_array("anchors", anchors, DType.FLOAT32, (len(STRIDES), ANCHORS, 2))
    return result_types(batch, capacity)


def _bind(head8: Layout, capacity: int) -> Binding:
    batch, channels, rows, columns = head8.shape
    height, width = (side * STRIDES[0] for side in (rows, columns))
    classes = channels // ANCHORS - AHEAD
    return Binding(AnchorsProblem(height, width, classes, capacity, batch, DType(head8.dtype)))


CALL = Call(
    declaration=decode_anchors,
    inputs=("head8", "head16", "head32", "anchors"),
    outputs=("boxes", "scores", "ids", "indices", "count"),
    types=_types,
    bind=_bind,
    scalars=("threshold",),
)
