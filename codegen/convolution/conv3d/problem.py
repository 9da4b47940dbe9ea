"""What a conv3d computes: a conv2d whose images and filters have a depth, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from autotune.codegen.convolution.conv2d.problem import Conv2dProblem
from autotune.codegen.convolution.problem import DTYPES, MOST, MOST_EXTENT, MOST_KERNEL, MOST_STEP, out_of
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Tensor, row_major
from autotune.codegen.source.kernel_source import KernelSource


@dataclass(frozen=True)
class Conv3dProblem(Conv2dProblem):
    """D = activation(alpha·X∗W + bias) + beta·C of images with a depth: a cross-correlation, as PyTorch has it.

    X is (batch, depth, height, width, in_channels), the weight (out_channels, kernel_t, kernel_h, kernel_w,
    in_channels / groups), and C and D are (batch, out_depth, out_height, out_width, out_channels).

    The other attributes are those of `Conv2dProblem`.

    Attributes:
        dtype, out_dtype, scaled: of floats, without scales.
        winograd: 0.
        depth: slices of an image of X.
        kernel_t: slices of a filter.
        stride_t, padding_t, dilation_t: of slices, as of rows and columns.
    """

    operands = {"x": Axes("ndhwc")}  # noqa: RUF012
    volumes: ClassVar[bool] = True

    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    out_dtype: OutDType = kind(OutDType.SAME, allowed=(OutDType.SAME,), implied=OutDType.SAME)
    scaled: bool = kind(False, allowed=(False,))
    winograd: int = kind(0, allowed=(0,), implied=0)
    depth: int = size(16, implied=1, least=1, most=MOST_EXTENT, short="d")
    kernel_t: int = kind(1, least=1, most=MOST_KERNEL, short="t", implied=1)
    stride_t: int = kind(1, least=1, most=MOST_STEP, short="st", implied=1)
    padding_t: int = kind(0, least=0, most=MOST_STEP, short="pt", implied=0)
    dilation_t: int = kind(1, least=1, most=MOST_STEP, short="dt", implied=1)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: as of conv2d, and a depth that a filter fits into."""
        fitted = super().fitted(fields)
        reach = (fitted["kernel_t"] - 1) * fitted["dilation_t"] + 1 - 2 * fitted["padding_t"]
        fitted["depth"] = max(fitted["depth"], reach)
        pixels = out_of(fitted, "t") * out_of(fitted, "h") * out_of(fitted, "w")
        fitted["batch"] = min(fitted["batch"], MOST // pixels)
        taps, groups = fitted["kernel_t"] * fitted["kernel_h"] * fitted["kernel_w"], fitted["groups"]
        fitted["in_channels"] = groups * min(ceil_div(fitted["in_channels"], groups), max(1, MOST // taps // groups))
        return fitted

    def __post_init__(self) -> None:
        super().__post_init__()
        if out_of(self.__dict__, "t") < 1:
            reach = (self.kernel_t - 1) * self.dilation_t + 1
            raise ValueError(
                f"depth={self.depth}: expected at least the {reach} that a filter reaches, less {self.padding_t} of "
                "padding on both sides"
            )

    @property
    def stride(self) -> tuple[int, ...]:
        """Of slices, rows and columns, as those that follow."""
        return self.stride_t, self.stride_h, self.stride_w

    @property
    def padding(self) -> tuple[int, ...]:
        """Of slices, rows and columns."""
        return self.padding_t, self.padding_h, self.padding_w

    @property
    def dilation(self) -> tuple[int, ...]:
        """Of slices, rows and columns."""
        return self.dilation_t, self.dilation_h, self.dilation_w

    @property
    def out_depth(self) -> int:
        """Slices of an image of D."""
        return out_of(self.__dict__, "t")

    @property
    def pixels(self) -> int:
        """Those of all slices of D: the rows of the product."""
        return self.batch * self.out_depth * self.out_height * self.out_width

    @property
    def taps(self) -> int:
        """Of a filter."""
        return self.kernel_t * super().taps

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {**super().extents, "d": self.depth}

    @property
    def base_pixels(self) -> Im2col:
        """See `ConvolutionProblem.base_pixels`."""
        reach = zip(self.padding, self.reach, strict=True)
        return Im2col(tuple(-added for added in self.padding), tuple(added - far for added, far in reach), self.stride)

    @property
    def gathered_image(self) -> tuple[int, ...]:
        """Slices, rows and columns of an image."""
        return self.depth, self.height, self.width

    @property
    def reach(self) -> tuple[int, ...]:
        """Slices, rows and columns from the first tap of a filter to the last."""
        return (self.kernel_t - 1) * self.dilation_t, *super().reach

    def stated(self, source: KernelSource) -> KernelSource:
        """See `Conv2dProblem.stated`: rows of a filter are those of all its slices."""
        facts = {"kernel_h": self.kernel_t * self.kernel_h, "filter_rows": self.kernel_h}
        sizes: dict[str, tuple[str, int]] = {"depth": ("int", self.depth), "out_depth": ("int", self.out_depth)}
        sizes["stride_x_d"] = ("long long", self.stride_x_d)  # type: ignore[attr-defined]
        served = f"{source.served}, in depth {self.kernel_t}, {self.stride_t}, {self.padding_t}, {self.dilation_t}"
        return replace(
            source, entry="conv3d", facts={**source.facts, **facts}, sizes={**source.sizes, **sizes}, served=served
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Those of conv2d, with a depth."""
        pixels = (self.batch, self.out_depth, self.out_height, self.out_width, self.out_channels)
        filters = (self.out_channels, self.kernel_t, self.kernel_h, self.kernel_w, self.channels)
        known = {
            "weight": (filters, row_major(filters)),
            **dict.fromkeys(("c", "d"), (pixels, (*(step * self.ldd for step in row_major(pixels[:4])), 1))),
        }
        return tuple(
            replace(one, shape=known[one.name][0], strides=known[one.name][1]) if one.name in known else one
            for one in super().tensors
        )

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """See `Conv2dProblem.exact_inputs`."""
        found = self._whole_numbers(seed)
        if found is not None:
            views = self.views(found)
            at = seed % self.depth, seed % self.height, (seed // 2) % self.width
            views["x"][1:, at[0], at[1], at[2]] = np.nan
            if self.filters > 1:
                views["weight"][seed % self.out_channels] = np.inf
        return found

    def _convolved(self, x: Array, weight: Array) -> Array:
        """The sums of each pixel, a product for each tap and group."""
        beside = ((0, 0), *((added, added) for added in self.padding), (0, 0))
        padded = np.pad(x, beside)
        outs = self.out_depth, self.out_height, self.out_width
        sums = np.zeros((self.groups, self.pixels, self.filters))
        filters = weight.reshape(self.groups, self.filters, *weight.shape[1:])
        for tap in np.ndindex(self.kernel_t, self.kernel_h, self.kernel_w):
            window = tuple(
                slice(at * step, at * step + (out - 1) * apart + 1, apart)
                for at, step, out, apart in zip(tap, self.dilation, outs, self.stride, strict=True)
            )
            seen = padded[(slice(None), *window)].reshape(self.pixels, self.groups, self.channels).swapaxes(0, 1)
            sums += seen @ filters[(slice(None), slice(None), *tap)].swapaxes(1, 2)
        return sums.swapaxes(0, 1).reshape(self.pixels, self.out_channels)
