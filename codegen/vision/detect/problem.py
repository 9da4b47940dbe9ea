"""Which boxes to keep of those that a detector sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import size
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Extent, Role, Tensor, row_major
from autotune.codegen.vision.decode.problem import DecodeProblem
from autotune.codegen.vision.nms.problem import Classes, NmsProblem

MOST_CAPACITY = 4096  # boxes of a picture that blocks hold in shared memory
_OVERLAP = 0.5


@dataclass(frozen=True)
class DetectProblem(DecodeProblem):
    """The boxes that a detector without anchors sees, and which of them no better box of their class overlaps.

    The boxes are those of `DecodeProblem`; those beyond `capacity` do not count. Of them, those are kept that
    `NmsProblem` says.

    Attributes:
        height, width: of the pictures in pixels, multiples of 32.
        classes: that there are.
        capacity: boxes of a picture that there is room for: the first ones, at most 4096.
        batch: pictures.
        dtype: of the logits.
        align_head: bytes that the address of the logits is a multiple of, at most 16.
        max_output: boxes of a picture that are kept at most.
    """

    max_output: int = size(300, implied=300)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.capacity > MOST_CAPACITY:
            raise ValueError(f"capacity={self.capacity}: expected {MOST_CAPACITY} at most")

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
        """Those of `DecodeProblem`; ``chosen``, the numbers of the boxes that are kept, and how many, ``kept``."""
        head, boxes, *others = super().tensors
        shape = (self.batch, self.max_output)
        extent = Extent("kept", axis=1)
        return (
            head,
            replace(boxes, alignment=16),
            *others,
            Tensor("chosen", DType.INT64, shape, row_major(shape), Role.OUTPUT, DType.INT64.bytes, extent=extent),
            Tensor.flat("kept", DType.INT32, self.batch, Role.OUTPUT, DType.INT32.bytes),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """A score that some points have exactly, and an overlap that some boxes may have."""
        return {**super().scalars, "iou_threshold": _OVERLAP}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """One after the other."""
        found = self.decoding.reference(inputs, scalars)
        given = {"boxes": found["boxes"], "scores": found["scores"], "classes": found["ids"], "counts": found["count"]}
        kept = self.keeping.reference(given, {**scalars, "score_threshold": -inf})
        return found | {"chosen": kept["indices"], "kept": kept["kept"]}
