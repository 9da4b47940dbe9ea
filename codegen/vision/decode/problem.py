"""Which boxes a detector sees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.tensor import Extent, Role, Tensor, row_major
from autotune.codegen.model.work import Unit, Work

from .numbers import expected_bin, sigmoid

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
STRIDES = (8, 16, 32)  # pixels of the picture from one point to the next
BINS = 16  # of the distance to a side of a box
SIDES = 4
_MOST_PIXELS, _MOST_CLASSES, _MOST_BOXES = 1 << 14, 1 << 16, 1 << 24
_STEP = 4  # logits are multiples of a quarter
_SPECIAL_EVERY = 97
_SPECIAL = (np.nan, np.inf, -np.inf)


@dataclass(frozen=True)
class Detections(Problem):
    """The boxes of each picture whose best class is more likely than a threshold, in the order of their points.

    Attributes:
        height, width: of the pictures in pixels, multiples of 32.
        classes: that there are.
        capacity: boxes of a picture that there is room for: the first ones.
        batch: pictures.
        dtype: of the logits.
    """

    entry: ClassVar[str]
    anchored: ClassVar[bool]

    height: int = size(640, least=32, most=_MOST_PIXELS)
    width: int = size(640, least=32, most=_MOST_PIXELS)
    classes: int = size(80, least=1, most=_MOST_CLASSES)
    capacity: int = size(4096, most=_MOST_BOXES)
    batch: int = size(1, implied=1)
    dtype: DType = kind(DType.FLOAT16, allowed=DTYPES)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("height", "width"):
            if (side := getattr(self, name)) % STRIDES[-1]:
                raise ValueError(f"{name}={side}: expected a multiple of {STRIDES[-1]}")
        for name in self.heads:
            self._check_alignment(f"align_{name}", self.dtype.bytes)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Sides become multiples of 32."""
        found = super().fitted(fields)
        return found | {name: found[name] - found[name] % STRIDES[-1] for name in ("height", "width")}

    @property
    @abstractmethod
    def heads(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the arrays of logits."""

    @property
    @abstractmethod
    def points(self) -> int:
        """Of all levels."""

    @property
    def areas(self) -> tuple[int, ...]:
        """Places of each level."""
        return tuple((self.height // stride) * (self.width // stride) for stride in STRIDES)

    @property
    def vector_width(self) -> int:
        """Neighbours that one load brings, wherever they are."""
        aligned = min(getattr(self, f"align_{name}") for name in self.heads) // self.dtype.bytes
        return widest_divisor(aligned, *(self.areas if self.anchored else (self.points,)))

    def head_tensors(self) -> tuple[Tensor, ...]:
        """The arrays of logits."""
        return tuple(
            Tensor(name, self.dtype, shape, row_major(shape), Role.INPUT, getattr(self, f"align_{name}"))
            for name, shape in self.heads.items()
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """A score that some points have exactly."""
        return {"threshold": 0.5}

    def results(self) -> tuple[Tensor, ...]:
        """``boxes`` (left, top, right, bottom), ``scores``, ``ids`` of classes, ``indices`` of points, ``count``."""
        each, counted = (self.batch, self.capacity), Extent("count", axis=1)

        def output(name: str, dtype: DType, shape: tuple[int, ...]) -> Tensor:
            return Tensor(name, dtype, shape, row_major(shape), Role.OUTPUT, dtype.bytes, extent=counted)

        return (
            output("boxes", DType.FLOAT32, (*each, SIDES)),
            output("scores", DType.FLOAT32, each),
            output("ids", DType.INT32, each),
            output("indices", DType.INT32, each),
            Tensor.flat("count", DType.INT32, self.batch, Role.OUTPUT, DType.INT32.bytes),
        )

    def detected(self, image: int, found: Mapping[str, Array], scores: Array, best: Array, threshold: float) -> Array:
        """Writes all of an image but its boxes, and returns the points that these are of."""
        chosen: Array = np.flatnonzero(scores > np.float32(threshold))
        found["count"][image] = len(chosen)
        chosen = chosen[: self.capacity]
        for name, values in (("scores", scores[chosen]), ("ids", best[chosen]), ("indices", chosen)):
            found[name][image, : len(chosen)] = values
        return chosen


def most_likely(logits: Array) -> tuple[Array, Array]:
    """The best class of each point, and how likely it is; `logits` has a row for each class."""
    classes = np.where(np.isnan(logits), np.float32(-np.inf), logits)
    best = classes.argmax(0)
    return best, sigmoid(classes[best, np.arange(classes.shape[1])])


@dataclass(frozen=True)
class DecodeProblem(Detections):
    """The boxes of each picture whose best class is more likely than a threshold, in the order of their points.

    A detector without anchors (YOLO from v8 on) says of each point, for each side of its box, how likely 16 distances
    are, and how likely each class is, all as logits. Points have the order of the levels, with 8, 16 and 32 pixels from
    one to the next, and of their rows. The best class is the one of the largest logit, of equal ones the lowest; a NaN
    is below all numbers. A side is the mean of the distances by the softmax of their logits. All is computed in
    float32, each operation rounded, so there is one right answer.

    Attributes:
        height, width: of the pictures in pixels, multiples of 32.
        classes: that there are.
        capacity: boxes of a picture that there is room for: the first ones.
        batch: pictures.
        dtype: of the logits.
        align_head: bytes that the address of the logits is a multiple of, at most 16.
    """

    entry: ClassVar[str] = "decode"
    anchored: ClassVar[bool] = False

    align_head: int = layout(16)

    @property
    def points(self) -> int:
        """Of all levels."""
        return sum(self.areas)

    @property
    def channels(self) -> int:
        """Logits of a point."""
        return SIDES * BINS + self.classes

    @property
    def heads(self) -> Mapping[str, tuple[int, ...]]:
        """One for all levels."""
        return {"head": (self.batch, self.channels, self.points)}

    @property
    def work(self) -> Work:
        """The logits of all classes are read; of boxes, only those of `inputs` that pass: few, and left out."""
        points = self.batch * self.points
        return Work(points * self.classes * self.dtype.bytes, {Unit.FP32: points * self.classes})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``head``, then the results."""
        return (*self.head_tensors(), *self.results())

    def inputs(self, seed: int) -> dict[str, Array]:
        """Logits that are multiples of a quarter, so that classes are equal; one point in eight has a likely class."""
        random = np.random.default_rng(seed)
        logits = random.normal(-6, 1.5, (self.batch, self.channels, self.points))
        likely = random.integers(0, 8, (self.batch, self.points)) == 0
        chosen = random.integers(SIDES * BINS, self.channels, (self.batch, self.points))
        image, point = np.nonzero(likely)
        logits[image, chosen[image, point], point] = random.normal(0.5, 1, len(image))
        logits[:, : SIDES * BINS] += 6
        logits = (np.rint(logits * _STEP) / _STEP).ravel()
        logits[::_SPECIAL_EVERY] = np.resize(_SPECIAL, len(logits[::_SPECIAL_EVERY]))
        return {"head": logits.astype(self.dtype.numpy)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """See `numbers.py`."""
        head, places = self.views(inputs)["head"].astype(np.float32), self._places()
        found = {tensor.name: np.zeros(tensor.shape, tensor.dtype.numpy) for tensor in self.results()}
        for image, logits in enumerate(head):
            best, scores = most_likely(logits[SIDES * BINS :])
            chosen = self.detected(image, found, scores, best, scalars["threshold"])
            distances = expected_bin(logits[: SIDES * BINS, chosen].reshape(SIDES, BINS, -1))
            x, y, stride = places[:, chosen]
            corners = np.stack([x - distances[0], y - distances[1], x + distances[2], y + distances[3]], 1)
            found["boxes"][image, : len(chosen)] = corners * stride[:, None]
        return self.buffers(found)

    def _places(self) -> Array:
        """Of each point, its column and its row on its level, in the middle of its pixels, and their stride."""
        levels = []
        for stride in STRIDES:
            y, x = np.indices((self.height // stride, self.width // stride), np.float32).reshape(2, -1)
            levels.append(np.stack([x + np.float32(0.5), y + np.float32(0.5), np.full_like(x, stride)]))
        return np.concatenate(levels, 1)
