"""Which boxes a detector with anchors sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import layout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.vision.decode.numbers import sigmoid
from autotune.codegen.vision.decode.problem import STRIDES, Detections, most_likely

ANCHORS = 3  # boxes of a place
AHEAD = 5  # logits ahead of the classes: center, size, and whether it is a box
_STEP = 4  # logits are multiples of a quarter
_SPECIAL_EVERY = 97
_SPECIAL = (np.nan, np.inf, -np.inf)


@dataclass(frozen=True)
class AnchorsProblem(Detections):
    """The boxes of each picture that are more likely than a threshold, by a detector with anchors (YOLOv5, v7).

    Each of three levels, with 8, 16 and 32 pixels from one place to the next, says of each place and of three anchors,
    as logits: the center of the box, x and y, its width and its height, how likely it is one, and how likely each
    class is. With σ the sigmoid, the center of a box is (2 · σ(x) + column − ½) · stride, its width (2 · σ(w))² times
    that of the anchor, and its score the product of the σ of being a box and of its best class. That has the largest
    logit, of equal ones it is the lowest; a NaN is below all numbers. Boxes have the order of levels, anchors, rows and
    columns. All is computed in float32, each operation rounded, so there is one right answer.

    Attributes:
        height, width: of the pictures in pixels, multiples of 32.
        classes: that there are.
        capacity: boxes of a picture that there is room for: the first ones.
        batch: pictures.
        dtype: of the logits.
        align_head8, align_head16, align_head32: bytes that the levels' addresses are multiples of, at most 16.
    """

    entry: ClassVar[str] = "decode_anchors"
    anchored: ClassVar[bool] = True

    align_head8: int = layout(16)
    align_head16: int = layout(16)
    align_head32: int = layout(16)

    @property
    def points(self) -> int:
        """Boxes that may pass."""
        return ANCHORS * sum(self.areas)

    @property
    def heads(self) -> Mapping[str, tuple[int, ...]]:
        """One for each level."""
        channels = ANCHORS * (AHEAD + self.classes)
        return {
            f"head{stride}": (self.batch, channels, self.height // stride, self.width // stride) for stride in STRIDES
        }

    @property
    def work(self) -> Work:
        """Whether each is a box is read, and the classes of those that may pass: a quarter of `inputs`."""
        points = self.batch * self.points
        read = points * (1 + self.classes / 4)
        return Work(round(read * self.dtype.bytes), {Unit.FP32: round(read)})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """The levels' logits, the ``anchors``' widths and heights in pixels, then the results."""
        shape = (len(STRIDES), ANCHORS, 2)
        return (
            *self.head_tensors(),
            Tensor("anchors", DType.FLOAT32, shape, (6, 2, 1), Role.INPUT, 4),
            *self.results(),
        )

    def inputs(self, seed: int) -> dict[str, Array]:
        """Logits that are multiples of a quarter, so that classes are equal; one in four may be a box."""
        random, found = np.random.default_rng(seed), {}
        for name, shape in self.heads.items():
            logits = random.normal(0.5, 1.5, (self.batch, ANCHORS, AHEAD + self.classes, *shape[2:]))
            logits[:, :, AHEAD - 1] -= 1.5
            logits = (np.rint(logits * _STEP) / _STEP).ravel()
            logits[::_SPECIAL_EVERY] = np.resize(_SPECIAL, len(logits[::_SPECIAL_EVERY]))
            found[name] = logits.astype(self.dtype.numpy)
        return found | {"anchors": random.integers(8, 400, 18).astype(np.float32)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """See `numbers.py` of decode."""
        given = self.views(inputs)
        found = {tensor.name: np.zeros(tensor.shape, tensor.dtype.numpy) for tensor in self.results()}
        for image in range(self.batch):
            levels = [
                self._level(given[name][image].astype(np.float32), stride, anchors)
                for (name, stride), anchors in zip(zip(self.heads, STRIDES, strict=True), given["anchors"], strict=True)
            ]
            boxes, scores, best = (np.concatenate(parts) for parts in zip(*levels, strict=True))
            chosen = self.detected(image, found, scores, best, scalars["threshold"])
            found["boxes"][image, : len(chosen)] = boxes[chosen]
        return self.buffers(found)

    def _level(self, head: Array, stride: int, anchors: Array) -> tuple[Array, Array, Array]:
        """Of each box of a level, its sides, its score and its best class."""
        half, two = np.float32(0.5), np.float32(2)
        rows, columns = head.shape[1:]
        places = np.indices((rows, columns), np.float32)[::-1].reshape(2, -1)
        boxes, scores, classes = [], [], []
        with np.errstate(invalid="ignore"):
            for logits, anchor in zip(head.reshape(ANCHORS, AHEAD + self.classes, -1), anchors, strict=True):
                center = (sigmoid(logits[:2]) * two + (places - half)) * np.float32(stride)
                twice = sigmoid(logits[2:4]) * two
                reach = twice * twice * anchor[:, None] * half
                best, likely = most_likely(logits[AHEAD:])
                boxes.append(np.concatenate([center - reach, center + reach]).T)
                scores.append(sigmoid(logits[AHEAD - 1]) * likely)
                classes.append(best)
        return np.concatenate(boxes), np.concatenate(scores), np.concatenate(classes)
