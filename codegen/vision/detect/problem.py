"""Which boxes to keep of those that a detector sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import size
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.vision.decode.problem import SIDES, DecodeProblem
from autotune.codegen.vision.nms.problem import Classes, NmsProblem

MOST_CAPACITY = 4096  # boxes of a picture that blocks hold in shared memory
_OVERLAP = 0.5


@dataclass(frozen=True)
class DetectProblem(DecodeProblem):
    """The boxes that a detector without anchors sees, and which of them no better box of their class overlaps.

    The boxes are those of `DecodeProblem`; those beyond `capacity` do not count. Of them, those are kept that
    `NmsProblem` says, the highest score first. Elements behind these are written, too: 0 for sides and scores, −1
    for classes and points.

    Attributes:
        height, width: of the pictures in pixels, multiples of 32.
        classes: that there are.
        capacity: boxes of a picture that there is room for: the first ones, at most 4096.
        batch: pictures.
        dtype: of the logits.
        align_head: bytes that the address of the logits is a multiple of, at most 16.
        max_output: boxes of a picture that are kept at most.
    """

    capacity: int = size(1024, most=MOST_CAPACITY)
    max_output: int = size(300, implied=300)

    @property
    def decoding(self) -> DecodeProblem:
        """Its first part."""
        return DecodeProblem(
            self.height, self.width, self.classes, self.capacity, self.batch, self.dtype, self.align_head
        )

    @property
    def keeping(self) -> NmsProblem:
        """Its second part."""
        return NmsProblem(self.capacity, self.max_output, self.batch, DType.FLOAT32, Classes.INT32, counted=True)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``head``; ``boxes``, ``scores``, ``ids`` and ``indices`` of points of what is kept; how many, ``kept``."""
        each = (self.batch, self.max_output)

        def output(name: str, dtype: DType, shape: tuple[int, ...]) -> Tensor:
            return Tensor(name, dtype, shape, row_major(shape), Role.OUTPUT, dtype.bytes)

        return (
            *self.head_tensors(),
            output("boxes", DType.FLOAT32, (*each, SIDES)),
            output("scores", DType.FLOAT32, each),
            output("ids", DType.INT32, each),
            output("indices", DType.INT32, each),
            output("kept", DType.INT32, (self.batch,)),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """A score that some points have exactly, and an overlap that some boxes may have."""
        return {**super().scalars, "iou_threshold": _OVERLAP}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """One after the other."""
        found = self.decoding.reference(inputs, scalars)
        given = {"boxes": found["boxes"], "scores": found["scores"], "classes": found["ids"], "counts": found["count"]}
        kept = self.keeping.reference(given, {**scalars, "score_threshold": 0.0})
        chosen = kept["indices"].reshape(self.batch, self.max_output)
        there = np.arange(self.max_output) < kept["kept"][:, None]

        def of_kept(name: str, behind: int, width: int = 1) -> Array:
            values = found[name].reshape(self.batch, self.capacity, width)
            padded = np.concatenate([values, np.full((self.batch, 1, width), behind, values.dtype)], 1)
            taken = np.take_along_axis(padded, np.where(there, chosen, self.capacity)[..., None], 1)
            return taken.ravel()

        return {
            "boxes": of_kept("boxes", 0, SIDES),
            "scores": of_kept("scores", 0),
            "ids": of_kept("ids", -1),
            "indices": of_kept("indices", -1),
            "kept": kept["kept"],
        }
