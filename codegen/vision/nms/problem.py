"""Which boxes to keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, layout, size
from autotune.codegen.model.indices import Indices
from autotune.codegen.model.integers import INT_MAX, widest_divisor
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.tensor import Extent, Role, Tensor, row_major

from .boxes import Crowding, random_boxes, random_classes, random_scores
from .greedy import kept_boxes

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
MOST_CANDIDATES = 1 << 20
CORNERS = 4  # numbers of a box: left, top, right, bottom


class Classes(StrEnum):
    """The ids of classes, only within which boxes suppress each other."""

    NONE = "one_class"
    INT64 = "int64"
    INT32 = "int32"

    @property
    def dtype(self) -> DType:
        """The type of an id."""
        return DType.INT32 if self is Classes.INT32 else DType.INT64


@dataclass(frozen=True)
class NmsProblem(Problem):
    """The boxes of each image that no better box of their class overlaps: greedy non-maximum suppression.

    Boxes have an order, so there is one right answer: by score, the highest one first, then by index. -0 equals 0.
    Scores below a threshold, and NaN, are left out. In this order, a box is kept unless its intersection over union
    with one that was kept before it is more than another threshold, as of ``torchvision.ops.nms``. It is computed in
    float32, and not a number for many boxes without area: these suppress nothing.

    Attributes:
        candidates: boxes of an image.
        max_output: boxes of an image that are kept at most: the first ones.
        images: of the batch.
        dtype: of boxes and scores.
        classes: the type of the boxes' classes, if there are several.
        counted: whether an array says of each image how many of its boxes count: from 0, for less, to all of them.
        crowding: how boxes lie.
        align_boxes: bytes that the address of the boxes is a multiple of, at most 16.
    """

    candidates: int = size(1000, most=MOST_CANDIDATES)
    max_output: int = size(300)
    images: int = size(1, implied=1)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    classes: Classes = kind(Classes.NONE, implied=Classes.NONE)
    counted: bool = kind(False, codes=("", "counted"))
    crowding: Crowding = data(Crowding.SPREAD)
    align_boxes: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_alignment("align_boxes", self.dtype.bytes)

    @property
    def vector_width(self) -> int:
        """Numbers of a box that one load brings."""
        return widest_divisor(CORNERS, self.align_boxes // self.dtype.bytes)

    @property
    def most_kept(self) -> int:
        """Boxes of an image that can be kept."""
        return min(self.candidates, self.max_output)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``boxes``, ``scores``, perhaps ``classes`` and ``counts``; ``indices``, and ``kept``: how many these are."""
        each, every = (self.images, self.candidates), (self.images,)
        found = [
            Tensor("boxes", self.dtype, (*each, CORNERS), row_major((*each, CORNERS)), Role.INPUT, self.align_boxes),
            Tensor("scores", self.dtype, each, row_major(each), Role.INPUT, self.dtype.bytes),
        ]
        if self.classes is not Classes.NONE:
            dtype = self.classes.dtype
            found.append(Tensor("classes", dtype, each, row_major(each), Role.INPUT, dtype.bytes))
        if self.counted:
            allowed = Indices(INT_MAX, tolerant=True)  # a decoder may have found more boxes than it had room for
            found.append(Tensor("counts", DType.INT32, every, (1,), Role.INPUT, DType.INT32.bytes, indices=allowed))
        shape = (self.images, self.max_output)
        return (
            *found,
            Tensor("indices", DType.INT64, shape, row_major(shape), Role.OUTPUT, 8, extent=Extent("kept", axis=1)),
            Tensor("kept", DType.INT32, every, (1,), Role.OUTPUT, DType.INT32.bytes),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """An overlap that many boxes have exactly, and a score that some have."""
        return {"iou_threshold": 0.5, "score_threshold": 0.125}

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `boxes.py`; counts are of any size, some of them out of bounds."""
        random, shape = np.random.default_rng(seed), (self.images, self.candidates)
        found = {
            "boxes": random_boxes(random, *shape, self.dtype, self.crowding),
            "scores": random_scores(random, *shape, self.dtype),
        }
        if self.classes is not Classes.NONE:
            found["classes"] = random_classes(random, *shape, self.classes.dtype)
        if self.counted:
            found["counts"] = random.integers(0, self.candidates + 1, self.images, np.int32)
            found["counts"][1::5], found["counts"][3::5] = self.candidates + 1, -1
        return {name: array.ravel() for name, array in found.items()}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Box by box; see `kept_boxes`."""
        given = self.views(inputs)
        boxes, scores = (given[name].astype(np.float32) for name in ("boxes", "scores"))
        counts = np.clip(inputs["counts"], 0, self.candidates) if self.counted else [self.candidates] * self.images
        indices = np.zeros((self.images, self.max_output), np.int64)
        kept = np.zeros(self.images, np.int32)
        for image, count in enumerate(counts):
            classes = given["classes"][image, :count] if self.classes is not Classes.NONE else None
            thresholds = scalars["iou_threshold"], scalars["score_threshold"]
            found = kept_boxes(boxes[image, :count], scores[image, :count], classes, *thresholds, self.max_output)
            kept[image] = len(found)
            indices[image, : len(found)] = found
        return self.buffers({"indices": indices, "kept": kept})
