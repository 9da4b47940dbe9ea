"""Which pictures of one size to fit into which target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import LEAST_COPY
from autotune.codegen.model.integers import ceil_div, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Work

from .rule import Place, Rule
from .target import CHANNELS, DTYPES, Order, Targets, random_levels


@dataclass(frozen=True)
class LetterboxProblem(StridedProblem, Targets):
    """Pictures of one size, resized to fit into a target with their sides' ratio, as numbers of a network.

    See `Targets` for the numbers.

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

    entry: ClassVar[str] = "letterbox"
    mixed: ClassVar[bool] = False
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
        return self.placed(self.picture_height, self.picture_width)

    @property
    def enlarges(self) -> bool:
        """See `Targets`."""
        return self.place.height > self.picture_height

    def reached(self, columns: int) -> int:
        """See `Targets`."""
        height, width = self.picture_height, self.picture_width
        if not height or not width:
            return 0
        there = max(1, min(self.width, width * self.height // height))  # of the target, at least so many
        if not self.scale_up:
            there = min(there, width)
        return min(width, ceil_div((columns - 1) * width, there) + 1)

    @property
    def row_alignment(self) -> int:
        """Rows of packed pixels that begin and end with words can be copied."""
        stated = self.layouts["images"]
        aligned = widest_divisor(stated.alignment, *stated.strides[:2])
        packed = stated.strides[2] == CHANNELS and self.picture_width % LEAST_COPY == 0
        return aligned if packed and aligned >= LEAST_COPY else 0

    @property
    def work(self) -> Work:
        """The target is written once, and of a picture the rows are read that its size in the target has, or all."""
        rows = self.picture_height if self.rule.filtered else min(self.picture_height, 2 * self.place.height)
        skipped = self.batch * (self.picture_height - rows) * self.picture_width * CHANNELS
        return Work(self.tensor_bytes - skipped)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``images``, perhaps ``mean`` and ``std``, then the results."""
        return (self.tensor("images", Role.INPUT), *self.channel_tensors(), *self.results())

    def inputs(self, seed: int) -> dict[str, Array]:
        """Random levels."""
        random = np.random.default_rng(seed)
        return {"images": random_levels(random, self.tensors[0].size), **self.channel_inputs(random)}

    def pictures(self, inputs: Mapping[str, Array]) -> Sequence[npt.NDArray[np.uint8]]:
        """See `Targets`."""
        return list(self.views(inputs)["images"])
