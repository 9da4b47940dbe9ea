"""What problems of convolutions have in common: images, filters, and which pixels meet under which taps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.tensor_unit import unit_of
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.integers import ceil_div, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.strided import StridedProblem
from autotune.codegen.model.tensor import Role
from autotune.codegen.model.work import Unit

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
MOST = 2**30  # pixels of D, channels and terms of a sum, so that one beyond the last tile is a 32-bit number, too
MOST_EXTENT = 2**24  # rows and columns of an image, so that places of taps are 32-bit numbers
TILES = (2, 4)  # sides of tiles of pixels whose operands are transformed (Winograd)
SMALL_GROUPS = (1, 2, 4, 8)  # channels, which vectors are multiples of
MOST_KERNEL, MOST_STEP = 2**10, 2**12


@dataclass(frozen=True)
class ConvolutionProblem(StridedProblem):
    """Images X of (batch, height, width, in_channels), filters of (out_channels, kernel_h, kernel_w,
    in_channels / groups), and pixels of (batch, out_height, out_width, out_channels), one for each place of a filter.

    The operand ``x`` is that of an operator's `operands`. What lies outside of an image is 0.

    Attributes:
        in_channels: of X.
        out_channels: filters.
        height, width: of an image of X.
        batch: images.
        kernel_h, kernel_w: rows and columns of a filter.
        stride_h, stride_w: rows and columns of X from one pixel of the result to the next.
        padding_h, padding_w: rows and columns of zeros on each side of an image.
        dilation_h, dilation_w: rows and columns of X from a tap of a filter to the next.
        groups: parts of the channels; filters of a part see its channels alone.
        dtype: of all arrays.
        tf32: whether elements of float32 may keep 10 bits of their fraction.
    """

    volumes: ClassVar[bool] = False  # whether images have a depth, too

    in_channels: int = size(64, least=1, most=MOST, short="c")
    out_channels: int = size(64, least=1, most=MOST, short="k")
    height: int = size(56, least=1, most=MOST_EXTENT, short="h")
    width: int = size(56, least=1, most=MOST_EXTENT, short="w")
    batch: int = size(32, implied=1, short="n")
    kernel_h: int = kind(3, least=1, most=MOST_KERNEL, short="r")
    kernel_w: int = kind(3, least=1, most=MOST_KERNEL, short="s", joined=True)
    stride_h: int = kind(1, least=1, most=MOST_STEP, short="sh", implied=1)
    stride_w: int = kind(1, least=1, most=MOST_STEP, short="sw", implied=1)
    padding_h: int = kind(0, least=0, most=MOST_STEP, short="ph", implied=0)
    padding_w: int = kind(0, least=0, most=MOST_STEP, short="pw", implied=0)
    dilation_h: int = kind(1, least=1, most=MOST_STEP, short="dh", implied=1)
    dilation_w: int = kind(1, least=1, most=MOST_STEP, short="dw", implied=1)
    groups: int = kind(1, least=1, short="g", implied=1)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    tf32: bool = kind(False, codes=("", "tf32"))

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: images that a filter fits into, channels that groups divide, not too many pixels."""
        fitted = super().fitted(fields)
        for side, extent in (("h", "height"), ("w", "width")):
            kernel, padding, dilation = (fitted[f"{name}_{side}"] for name in ("kernel", "padding", "dilation"))
            fitted[extent] = max(fitted[extent], (kernel - 1) * dilation + 1 - 2 * padding)
        groups, most = fitted["groups"], {"in_channels": MOST // (fitted["kernel_h"] * fitted["kernel_w"])}
        for name in ("in_channels", "out_channels"):
            fitted[name] = groups * min(ceil_div(fitted[name], groups), most.get(name, MOST) // groups)
        fitted["batch"] = min(fitted["batch"], MOST // (out_of(fitted, "h") * out_of(fitted, "w")))
        return fitted

    def __post_init__(self) -> None:
        super().__post_init__()
        for side, extent in (("h", "height"), ("w", "width")):
            padding = getattr(self, f"padding_{side}")
            if getattr(self, f"out_{extent}") < 1:
                reach = (getattr(self, f"kernel_{side}") - 1) * getattr(self, f"dilation_{side}") + 1
                raise ValueError(
                    f"{extent}={getattr(self, extent)}: expected at least the {reach} that a filter reaches, "
                    f"less {padding} of padding on both sides"
                )
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise ValueError(f"groups={self.groups}: expected a divisor of {name}={getattr(self, name)}")
        if self.terms > MOST:
            raise ValueError(
                f"in_channels={self.in_channels}: expected at most {MOST} terms of a sum, not {self.terms}"
            )
        if self.pixels > MOST:
            raise ValueError(
                f"batch={self.batch}: expected at most {MOST} pixels of "
                f"{self.out_height}×{self.out_width} each, not {self.pixels}"
            )
        if self.tf32 and self.dtype is not DType.FLOAT32:
            raise ValueError(f"tf32=True: expected a dtype of float32, not {self.dtype}")

    @property
    def kernel_size(self) -> tuple[int, int]:
        """Rows and columns of a filter."""
        return self.kernel_h, self.kernel_w

    @property
    def stride(self) -> tuple[int, ...]:
        """Of rows and of columns, as those that follow."""
        return self.stride_h, self.stride_w

    @property
    def padding(self) -> tuple[int, ...]:
        """Of rows and of columns."""
        return self.padding_h, self.padding_w

    @property
    def dilation(self) -> tuple[int, ...]:
        """Of rows and of columns."""
        return self.dilation_h, self.dilation_w

    @property
    def allow_tf32(self) -> bool:
        """`tf32`, as calls name it."""
        return self.tf32

    @property
    def out_height(self) -> int:
        """Rows of an image of D."""
        return out_of(self.__dict__, "h")

    @property
    def out_width(self) -> int:
        """Columns of an image of D."""
        return out_of(self.__dict__, "w")

    @property
    def pixels(self) -> int:
        """Those of all images of D: the rows of the product."""
        return self.batch * self.out_height * self.out_width

    @property
    def channels(self) -> int:
        """Channels of X that a filter sees."""
        return self.in_channels // self.groups

    @property
    def filters(self) -> int:
        """Filters of a group: the columns of a product."""
        return self.out_channels // self.groups

    @property
    def taps(self) -> int:
        """Of a filter."""
        return self.kernel_h * self.kernel_w

    @property
    def terms(self) -> int:
        """Of a sum: the taps of a filter, each with its channels."""
        return self.taps * self.channels

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {"n": self.batch, "h": self.height, "w": self.width, "c": self.in_channels}

    def dtype_of(self, operand: str) -> DType:
        """See `StridedProblem.dtype_of`."""
        return self.dtype

    @property
    def base_pixels(self) -> Im2col:
        """The pixels of X under the first tap of a filter, one for each pixel of the result."""
        return Im2col(
            lower=(-self.padding_h, -self.padding_w),
            upper=tuple(added - reach for added, reach in zip(self.padding, self.reach, strict=True)),
            steps=self.stride,
        )

    @property
    def gathered_image(self) -> tuple[int, ...]:
        """Rows and columns of what filters move over."""
        return self.height, self.width

    @property
    def reach(self) -> tuple[int, ...]:
        """Rows and columns of it from the first tap of a filter to the last."""
        return (self.kernel_h - 1) * self.dilation_h, (self.kernel_w - 1) * self.dilation_w

    @property
    def vector(self) -> int:
        """Elements of the widest access to X that every pixel is aligned for, and that divides a filter's channels."""
        stated = self.layouts["x"]
        return widest_divisor(stated.alignment // self.dtype.bytes, self.channels, *stated.strides)

    @property
    def depthwise(self) -> bool:
        """Whether each channel is a group with one filter."""
        return self.groups == self.in_channels == self.out_channels

    @property
    def small_groups(self) -> bool:
        """Whether each group has as many filters as channels, so few that a thread has whole groups."""
        return self.channels == self.filters and self.channels in SMALL_GROUPS

    @property
    @abstractmethod
    def product(self) -> GemmProblem:
        """The same as a product of each group, of which one operand is never stored."""

    @property
    @abstractmethod
    def sgemm(self) -> SgemmProblem:
        """`product` of float32 in FP32."""

    @property
    def unit(self) -> Unit:
        """What multiplies."""
        return Unit.FP32 if self.dtype is DType.FLOAT32 and not self.tf32 else unit_of(self.dtype)

    def _drawn(self, numbers: Callable[[DType, int], Array]) -> dict[str, Array]:
        read = (tensor for tensor in self.tensors if tensor.role is not Role.OUTPUT)
        return {tensor.name: repeated(partial(numbers, tensor.dtype), tensor.size) for tensor in read}

    def _seen(self, x: Array, row: int, column: int) -> Array:
        """What is under a tap: for each group, the channels that each pixel of the result sees, in float64."""
        sides = (0, 0), (self.padding_h, self.padding_h), (self.padding_w, self.padding_w), (0, 0)
        down = slice(row * self.dilation_h, None, self.stride_h)
        along = slice(column * self.dilation_w, None, self.stride_w)
        seen = np.pad(x, sides)[:, down, along][:, : self.out_height, : self.out_width]
        return seen.reshape(self.pixels, self.groups, self.channels).swapaxes(0, 1)


def out_of(fields: Mapping[str, Any], side: str) -> int:
    """Rows (``h``), columns (``w``) or slices (``t``) of an image of D."""
    extent = fields[{"t": "depth", "h": "height", "w": "width"}[side]]
    names = ("kernel", "stride", "padding", "dilation")
    kernel, stride, padding, dilation = (fields[f"{name}_{side}"] for name in names)
    out: int = (extent + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    return out
