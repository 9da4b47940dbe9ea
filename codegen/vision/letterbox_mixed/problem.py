"""Which pictures of many sizes to fit into which target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import LEAST_COPY
from autotune.codegen.model.indices import Indices
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Work
from autotune.codegen.vision.letterbox.rule import Rule
from autotune.codegen.vision.letterbox.target import CHANNELS, DTYPES, Order, Targets, random_levels

ENTRY = 4  # numbers of a picture: where it begins, its height, its width, and bytes from one row to the next
_MOST_SIDE, _MOST_TARGET = 1 << 24, 1 << 16
_USUAL_STEP = 4  # pixels from one of a target to the next
_LEAST_SHARE = 0.3  # of as many bytes for each picture, which it has at least; the others are gaps
_USUAL_SHARE = (1 + _LEAST_SHARE) / 2
_INT64_MAX = (1 << 63) - 1
_WRONG = ((-1, 1, 1, 3), (0, 1 << 40, 1 << 40, 1 << 62), (0, 2, 2, 5), (0, -1, 4, 12), (_INT64_MAX, 1, 1, 3))


@dataclass(frozen=True)
class MixedProblem(Targets):
    """Pictures of many sizes, resized to fit into a target with their sides' ratio, as numbers of a network.

    A table on the device says of each picture where it begins, its height, its width, and how far its rows lie apart.
    A picture that does not lie within the bytes that there are counts as empty. See `Targets` for the numbers.

    Attributes:
        bytes: of all pictures.
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
        align_images: likewise of the pictures' bytes.
    """

    entry: ClassVar[str] = "letterbox_mixed"
    mixed: ClassVar[bool] = True

    bytes: int = size(1 << 20, most=None)
    height: int = size(640, least=1, most=_MOST_TARGET)
    width: int = size(640, least=1, most=_MOST_TARGET)
    batch: int = size(1, implied=1)
    dtype: DType = kind(DType.FLOAT16, allowed=DTYPES)
    order: Order = kind(Order.NCHW)
    rule: Rule = kind(Rule.CV2)
    swap_channels: bool = kind(True, codes=("as_is", ""))
    scale_up: bool = kind(True, codes=("no_scale_up", ""))
    center: bool = kind(True, codes=("at_corner", ""))
    normalised: bool = kind(False, codes=("", "normalised"))
    align_target: int = layout(16)
    align_images: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_alignment("align_target", self.dtype.bytes)
        self._check_alignment("align_images")

    def reached(self, columns: int) -> int:
        """Nobody knows: those of a usual picture. What there is no room for is loaded level by level."""
        return _USUAL_STEP * columns

    @property
    def enlarges(self) -> bool:
        """Nobody knows."""
        return False

    @property
    def row_alignment(self) -> int:
        """Copies begin ahead of a row that is not aligned, within the pictures' bytes."""
        return self.align_images if self.align_images >= LEAST_COPY else 0

    @property
    def work(self) -> Work:
        """The pixels of the pictures of `inputs` are read once, the target is written once."""
        pixels = sum(height * width for _, height, width, _ in map(self._within, self._table(np.random.default_rng(0))))
        return Work(self.tensor_bytes - self.bytes + CHANNELS * pixels)

    @property
    def usual_work(self) -> Work:
        """See `Problem.usual_work`: pictures have `_USUAL_SHARE` of the bytes."""
        return Work(self.tensor_bytes - self.bytes + round(_USUAL_SHARE * self.bytes))

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``images``, their ``table``, perhaps ``mean`` and ``std``, then the results."""
        allowed = Indices(_INT64_MAX, tolerant=True)
        shape = (self.batch, ENTRY)
        return (
            Tensor.flat("images", DType.UINT8, self.bytes, Role.INPUT, self.align_images),
            Tensor("table", DType.INT64, shape, row_major(shape), Role.INPUT, 8, indices=allowed),
            *self.channel_tensors(),
            *self.results(),
        )

    def inputs(self, seed: int) -> dict[str, Array]:
        """Random levels; see `_table`."""
        random = np.random.default_rng(seed)
        table = self._table(random)
        if self.batch > 2:
            table[1] = ((self.bytes - CHANNELS, 2, 1, CHANNELS), *_WRONG)[seed % (1 + len(_WRONG))]
        images = random_levels(random, self.bytes)
        return {"images": images, "table": table.ravel(), **self.channel_inputs(random)}

    def _table(self, random: np.random.Generator) -> npt.NDArray[np.int64]:
        """Pictures of other sizes in equal shares of all bytes, some with gaps; the last one ends with the bytes."""
        table, share = np.zeros((self.batch, ENTRY), np.int64), self.bytes // max(1, self.batch)
        for number in range(self.batch if share >= CHANNELS else 0):
            area = max(1, int(share // CHANNELS * random.uniform(_LEAST_SHARE, 1)))
            width = min(area, max(1, int(isqrt(area) * random.uniform(0.6, 1.6))))
            pitch = CHANNELS * width + int(random.choice([0, 0, 1, 4]))
            height = min(max(1, area // width), 1 + (share - CHANNELS * width) // pitch)
            left = share - (height - 1) * pitch - CHANNELS * width
            last = number == self.batch - 1
            begin = self.bytes - share + left if last else number * share + int(random.integers(0, left + 1))
            table[number] = begin, height, width, pitch
        return table

    def _within(self, entry: npt.NDArray[np.int64]) -> tuple[int, int, int, int]:
        """An entry of the table, or that of an empty picture if it does not lie within the bytes that there are."""
        begin, height, width, pitch = map(int, entry)
        has_sides = 0 < height <= _MOST_SIDE and 0 < width <= _MOST_SIDE and pitch >= CHANNELS * width
        inside = has_sides and 0 <= begin <= self.bytes - (height - 1) * pitch - CHANNELS * width
        return (begin, height, width, pitch) if inside else (0, 0, 0, CHANNELS)

    def pictures(self, inputs: Mapping[str, Array]) -> Sequence[npt.NDArray[np.uint8]]:
        """See `Targets`."""
        found = []
        for begin, height, width, pitch in map(self._within, inputs["table"].reshape(-1, ENTRY)):
            strides = (pitch, CHANNELS, 1)
            shape = (height, width, CHANNELS)
            found.append(np.lib.stride_tricks.as_strided(inputs["images"][begin:], shape, strides))
        return found
