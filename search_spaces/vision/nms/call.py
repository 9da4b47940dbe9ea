"""How users call nms."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.vision.nms.problem import CORNERS, DTYPES, Classes, NmsProblem
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def nms(
    boxes: Any,
    scores: Any,
    iou_threshold: float = 0.5,
    *,
    classes: Any = None,
    counts: Any = None,
    score_threshold: float = -inf,
    max_output: int | None = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The boxes that no better box overlaps, of one image or of several, as of ``torchvision.ops.nms``.

    There is one right answer: boxes are in the order of their scores, the highest one first, and of equal scores the
    lower index comes first. A box is kept unless its intersection over union with one that was kept before it is more
    than the threshold. It is computed in float32; where it is not a number, as of two boxes without area, nothing is
    suppressed. A NaN among the scores is left out. No host waits for the number of boxes: it stays on the device.

    Args:
        boxes: float32, float16 or bfloat16, of shape (…, boxes, 4), contiguous: left, top, right, bottom.
        scores: of the same dtype, one for each box.
        iou_threshold: the overlap up to which a box is kept.
        classes: int64 or int32, one for each box, which suppresses those of its own class only.
        counts: int32, one for each image: how many of its boxes count, from the first one on; all if it has fewer.
        score_threshold: boxes of lower scores are left out.
        max_output: boxes of an image that are kept at most; by default all.
        out: the indices and their number as a tuple of contiguous arrays. By default new arrays of the library of
            `boxes`.

    Returns:
        The indices of the boxes that are kept, int64 of shape (…, max_output), and how many they are, int32 of shape
        (…). Elements behind so many are left as they were.
    """


def batched_nms(
    boxes: Any, scores: Any, idxs: Any, iou_threshold: float = 0.5, *, out: Any = None, stream: Any = None
) -> Mapping[str, Any]:
    """``torchvision.ops.batched_nms``, by ``nms``: boxes suppress those of their own class only.

    Classes are compared as numbers. So no box moves, as it does where an offset for each class is added to it.

    Args:
        boxes, scores, iou_threshold, out: see ``nms``.
        idxs: the classes, int64 or int32.
    """
    given = {"boxes": boxes, "scores": scores, "iou_threshold": iou_threshold, "classes": idxs}
    return given | {"out": out, "stream": stream}


def _types(
    boxes: Layout, scores: Layout, classes: Layout | None, counts: Layout | None, max_output: int | None
) -> Mapping[str, ArrayType]:
    check_dtype("nms", "boxes", boxes, DTYPES)
    if len(boxes.shape) < 2 or boxes.shape[-1] != CORNERS:
        raise ValueError(f"boxes has shape {boxes.shape}: expected (…, boxes, {CORNERS})")
    *images, candidates = boxes.shape[:-1]
    check_array("scores", scores, boxes.dtype, boxes.shape[:-1])
    if classes is not None:
        check_dtype("nms", "classes", classes, (DType.INT64, DType.INT32))
        check_array("classes", classes, classes.dtype, boxes.shape[:-1])
    check_array("counts", counts, DType.INT32, tuple(images))
    if max_output is not None and max_output < 0:
        raise ValueError(f"max_output={max_output}: expected 0 or more")
    most = candidates if max_output is None else max_output
    return {"indices": ArrayType((*images, most), DType.INT64), "kept": ArrayType(tuple(images), DType.INT32)}


def _bind(
    boxes: Layout,
    classes: Layout | None,
    counts: Layout | None,
    max_output: int | None,
) -> Binding:
    candidates = boxes.shape[-2]
    problem = NmsProblem(
        candidates=candidates,
        images=prod(boxes.shape[:-2]),
        max_output=candidates if max_output is None else max_output,
        dtype=DType(boxes.dtype),
        classes=Classes.NONE if classes is None else Classes(classes.dtype),
        counted=counts is not None,
    )
    return Binding(problem)


CALL = Call(
    declaration=nms,
    inputs=("boxes", "scores", "classes", "counts"),
    outputs=("indices", "kept"),
    types=_types,
    bind=_bind,
    scalars=("iou_threshold", "score_threshold"),
    optional=("classes", "counts"),
)
