"""Which boxes to bring back to their pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import layout, size
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.vision.letterbox.target import PLACEMENT
from autotune.codegen.vision.nms.problem import CORNERS

_DTYPE = DType.FLOAT32


@dataclass(frozen=True)
class ScaleBoxesProblem(Problem):
    """Corners in pixels of a target become those in pixels of the picture that it shows.

    A corner less what is free ahead of the picture, over the picture's scale, each rounded, is cut off at the sides of
    the picture. A NaN becomes 0.

    Attributes:
        count: boxes of each picture.
        batch: pictures.
        align_boxes, align_scaled: bytes that the addresses of boxes, given and scaled, are multiples of, at most 16.
    """

    count: int = size(300)
    batch: int = size(1, implied=1)
    align_boxes: int = layout(16)
    align_scaled: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_alignment("align_boxes", _DTYPE.bytes)
        self._check_alignment("align_scaled", _DTYPE.bytes)

    @property
    def vector_width(self) -> int:
        """Corners of a box that one access has."""
        return widest_divisor(CORNERS, self.align_boxes // _DTYPE.bytes, self.align_scaled // _DTYPE.bytes)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``boxes`` and ``placement`` as `LetterboxProblem` has it; ``scaled``."""
        shape, placement = (self.batch, self.count, CORNERS), (self.batch, PLACEMENT)
        return (
            Tensor("boxes", _DTYPE, shape, row_major(shape), Role.INPUT, self.align_boxes),
            Tensor("placement", _DTYPE, placement, row_major(placement), Role.INPUT, _DTYPE.bytes),
            Tensor("scaled", _DTYPE, shape, row_major(shape), Role.OUTPUT, self.align_scaled),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """The sides of small pictures, which cut off many boxes."""
        return {"height": 300.0, "width": 500.0}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Corners in the target and around it, some of them NaN or infinite; an empty picture among several."""
        random = np.random.default_rng(seed)
        corners = random.uniform(-50, 700, self.batch * self.count * CORNERS).astype(np.float32)
        corners[::31], corners[1::37], corners[2::41] = np.nan, np.inf, -np.inf
        placement = np.stack([random.uniform(0.2, 3, self.batch), *random.integers(0, 200, (2, self.batch))], 1)
        placement[2::5] = 0
        return {"boxes": corners, "placement": placement.astype(np.float32).ravel()}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """In float32."""
        given = self.views(inputs)
        placement = given["placement"][:, None]
        most = np.array([scalars["width"], scalars["height"]] * 2, np.float32)
        with np.errstate(all="ignore"):
            moved = (given["boxes"] - placement[..., [1, 2, 1, 2]]) / placement[..., :1]
        positive = np.where(moved > 0, moved, np.float32(0))
        return self.buffers({"scaled": np.where(positive < most, positive, most)})
