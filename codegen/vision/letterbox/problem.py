"""Which pictures to fit into which target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Work

from .rule import Place, Rule, placed, resized

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
CHANNELS = 3
PLACEMENT = 3  # scale, left, top


class Order(StrEnum):
    """The axes of the target."""

    NCHW = "nchw"
    NHWC = "nhwc"


@dataclass(frozen=True)
class LetterboxProblem(StridedProblem):
    """Pictures of one size, resized to fit into a target with their sides' ratio, as numbers of a network.

    A level becomes (level · scale − mean) / std, rounded after each operation, and at last to the target's type. So
    does the level of what the picture leaves free. There is one right answer for each rule.

    Attributes:
        picture_height, picture_width: of the pictures, which have three channels of bytes.
        height, width: of the target.
        batch: pictures.
        dtype: of the target's numbers.
        order: of the target's axes.
        rule: which pixels make one.
        swap_channels: whether the channels change their order, as from BGR to RGB.
        scale_up: whether small pictures are enlarged.
        center: whether a picture is in the middle of the target; else it is at the left and at the top.
        normalised: whether there are a mean and a deviation for each channel of the target.
        align_target: bytes that the target's address is a multiple of, at most 16.
    """

    operands: ClassVar[Mapping[str, Axes]] = {"images": Axes("bhwc")}

    picture_height: int = size(1080)
    picture_width: int = size(1920)
    height: int = size(640, least=1)
    width: int = size(640, least=1)
    batch: int = size(1, implied=1)
    dtype: DType = kind(DType.FLOAT16, allowed=DTYPES)
    order: Order = kind(Order.NCHW)
    rule: Rule = kind(Rule.CV2)
    swap_channels: bool = kind(True, codes=("as_is", ""))
    scale_up: bool = kind(True, codes=("no_scale_up", ""))
    center: bool = kind(True, codes=("at_corner", ""))
    normalised: bool = kind(False, codes=("", "normalised"))
    align_target: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_alignment("align_target", self.dtype.bytes)

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem`."""
        return {"b": self.batch, "h": self.picture_height, "w": self.picture_width, "c": CHANNELS}

    def dtype_of(self, operand: str) -> DType:
        """Bytes."""
        return DType.UINT8

    @property
    def place(self) -> Place:
        """Of a picture in the target."""
        return placed(self.picture_height, self.picture_width, (self.height, self.width), self.scale_up, self.center)

    @property
    def work(self) -> Work:
        """The target is written once, and of a picture the rows are read that its size in the target has, or all."""
        rows = self.picture_height if self.rule.filtered else min(self.picture_height, 2 * self.place.height)
        skipped = self.batch * (self.picture_height - rows) * self.picture_width * CHANNELS
        return Work(self.tensor_bytes - skipped)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``images``, perhaps ``mean`` and ``std``; ``target``, and as ``placement`` its scale, left and top."""
        sides, placement = (self.height, self.width), (self.batch, PLACEMENT)
        shape = (self.batch, *((CHANNELS, *sides) if self.order is Order.NCHW else (*sides, CHANNELS)))
        of_channels = [Tensor.flat(name, DType.FLOAT32, CHANNELS, Role.INPUT, 4) for name in ("mean", "std")]
        return (
            self.tensor("images", Role.INPUT),
            *(of_channels if self.normalised else []),
            Tensor("target", self.dtype, shape, row_major(shape), Role.OUTPUT, self.align_target),
            Tensor("placement", DType.FLOAT32, placement, row_major(placement), Role.OUTPUT, 4),
        )

    @property
    def scalars(self) -> Mapping[str, float]:
        """Those of YOLO."""
        return {"pad": 114.0, "scale": 1 / 255}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Random levels, the least and the largest among them; deviations that are no powers of two."""
        random = np.random.default_rng(seed)
        images = random.integers(0, 256, self.tensors[0].size, np.uint8)
        images[::11], images[5::13] = 0, 255
        found = {"images": images}
        if self.normalised:
            found["mean"] = random.uniform(0.3, 0.6, CHANNELS).astype(np.float32)
            found["std"] = random.uniform(0.2, 0.3, CHANNELS).astype(np.float32)
        return found

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """See `rule.py`."""
        images, place = self.views(inputs)["images"], self.place
        pad, scale = (np.float32(scalars[name]) for name in ("pad", "scale"))
        levels = np.full((self.batch, self.height, self.width, CHANNELS), pad, np.float32)
        inside = levels[:, place.top : place.top + place.height, place.left : place.left + place.width]
        for image, target in zip(images, inside, strict=True):
            if target.size:
                target[...] = resized(image, place.height, place.width, self.rule)
        if self.swap_channels:
            levels = levels[..., ::-1]
        numbers = levels * scale
        if self.normalised:
            numbers = (numbers - inputs["mean"]) / inputs["std"]
        if self.order is Order.NCHW:
            numbers = numbers.transpose(0, 3, 1, 2)
        placement = np.tile(np.array([place.ratio, place.left, place.top], np.float32), (self.batch, 1))
        return self.buffers({"target": np.ascontiguousarray(numbers.astype(self.dtype.numpy)), "placement": placement})


def widest(problem: LetterboxProblem) -> int:
    """Neighbours that one store of up to 16 bytes has, wherever they are in a target."""
    return widest_divisor(problem.align_target // problem.dtype.bytes, problem.width)
