"""What a conv2d computes: its arrays, how they are verified, and its reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from autotune.codegen.epilogue.activation import FUSED, STEEPEST, Activation
from autotune.codegen.epilogue.epilogue import Bias, Epilogue, scalars_of_kernel
from autotune.codegen.matmul.gemm.numbers import exact_numbers, random_numbers
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.tensor_unit import unit_of
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div, round_up, widest_divisor
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.strided import Axes, StridedProblem
from autotune.codegen.model.tensor import Role, Tensor, Within, row_major
from autotune.codegen.model.work import Unit, Work

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
_MOST = 2**30  # pixels of D, channels and terms of a sum, so that one beyond the last tile is a 32-bit number, too
_MOST_EXTENT = 2**24  # rows and columns of an image, so that places of taps are 32-bit numbers
_MOST_KERNEL, _MOST_STEP = 2**10, 2**12


@dataclass(frozen=True)
class Conv2dProblem(StridedProblem):
    """D = activation(alpha·X∗W + bias) + beta·C: a cross-correlation of images and filters, as PyTorch has it.

    X is (batch, height, width, in_channels), the weight (out_channels, kernel_h, kernel_w, in_channels / groups), and C
    and D are (batch, out_height, out_width, out_channels). What lies outside of an image is 0. Sums are accumulated
    in FP32 and rounded once.

    Attributes:
        in_channels: of X.
        out_channels: filters.
        height, width: of an image of X.
        batch: images.
        kernel_h, kernel_w: rows and columns of a filter.
        stride_h, stride_w: rows and columns of X from one of D to the next.
        padding_h, padding_w: rows and columns of zeros on each side of an image.
        dilation_h, dilation_w: rows and columns of X from a tap of a filter to the next.
        groups: parts of the channels; filters of a part see its channels alone.
        dtype: of X, weight, bias, C and D.
        tf32: whether elements of float32 may keep 10 bits of their fraction.
        bias: whether an element for each channel is added.
        activation: applied to the scaled convolution and its bias.
        residual: whether beta·C is added.
        align_weight: bytes that the pointer of the weight is a multiple of, at most 16.
        ldd: elements from a pixel of D, or of C, to the next; 0 means pixels without gaps.
        align_d: bytes that the pointers of D and C are multiples of, at most 16.
    """

    operands = {"x": Axes("nhwc")}  # noqa: RUF012

    in_channels: int = size(64, least=1, most=_MOST, short="c")
    out_channels: int = size(64, least=1, most=_MOST, short="k")
    height: int = size(56, least=1, most=_MOST_EXTENT, short="h")
    width: int = size(56, least=1, most=_MOST_EXTENT, short="w")
    batch: int = size(32, implied=1, short="n")
    kernel_h: int = kind(3, least=1, most=_MOST_KERNEL, short="r")
    kernel_w: int = kind(3, least=1, most=_MOST_KERNEL, short="s", joined=True)
    stride_h: int = kind(1, least=1, most=_MOST_STEP, short="sh", implied=1)
    stride_w: int = kind(1, least=1, most=_MOST_STEP, short="sw", implied=1)
    padding_h: int = kind(0, least=0, most=_MOST_STEP, short="ph", implied=0)
    padding_w: int = kind(0, least=0, most=_MOST_STEP, short="pw", implied=0)
    dilation_h: int = kind(1, least=1, most=_MOST_STEP, short="dh", implied=1)
    dilation_w: int = kind(1, least=1, most=_MOST_STEP, short="dw", implied=1)
    groups: int = kind(1, least=1, short="g", implied=1)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    tf32: bool = kind(False, codes=("", "tf32"))
    bias: Bias = kind(Bias.NONE, allowed=(Bias.NONE, Bias.ROW), implied=Bias.NONE, transfers=True)
    activation: Activation = kind(Activation.IDENTITY, allowed=FUSED, implied=Activation.IDENTITY, transfers=True)
    residual: bool = kind(False, codes=("", "residual"), transfers=True)
    align_weight: int = layout(WIDEST_ACCESS)
    ldd: int = layout()
    align_d: int = layout(WIDEST_ACCESS)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: images that a filter fits into, channels that groups divide, not too many pixels."""
        fitted = super().fitted(fields)
        for side, extent in (("h", "height"), ("w", "width")):
            kernel, padding, dilation = (fitted[f"{name}_{side}"] for name in ("kernel", "padding", "dilation"))
            fitted[extent] = max(fitted[extent], (kernel - 1) * dilation + 1 - 2 * padding)
        groups, most = fitted["groups"], {"in_channels": _MOST // (fitted["kernel_h"] * fitted["kernel_w"])}
        for name in ("in_channels", "out_channels"):
            fitted[name] = groups * min(ceil_div(fitted[name], groups), most.get(name, _MOST) // groups)
        fitted["batch"] = min(fitted["batch"], _MOST // (_out(fitted, "h") * _out(fitted, "w")))
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
        if self.terms > _MOST:
            raise ValueError(
                f"in_channels={self.in_channels}: expected at most {_MOST} terms of a sum, not {self.terms}"
            )
        if self.pixels > _MOST:
            raise ValueError(
                f"batch={self.batch}: expected at most {_MOST} pixels of "
                f"{self.out_height}×{self.out_width} each, not {self.pixels}"
            )
        if self.tf32 and self.dtype is not DType.FLOAT32:
            raise ValueError(f"tf32=True: expected a dtype of float32, not {self.dtype}")
        if self.ldd and self.ldd < self.out_channels:
            raise ValueError(f"ldd={self.ldd}: expected at least the {self.out_channels} channels of a pixel, or 0")
        object.__setattr__(self, "ldd", self.ldd if self.ldd and self.pixels > 1 else self.out_channels)
        for operand in ("weight", "d"):
            self._check_alignment(f"align_{operand}", self.dtype.bytes)

    @property
    def out_height(self) -> int:
        """Rows of an image of D."""
        return _out(self.__dict__, "h")

    @property
    def out_width(self) -> int:
        """Columns of an image of D."""
        return _out(self.__dict__, "w")

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
    def terms(self) -> int:
        """Of a sum: the taps of a filter, each with its channels."""
        return self.kernel_h * self.kernel_w * self.channels

    @property
    def extents(self) -> Mapping[str, int]:
        """See `StridedProblem.extents`."""
        return {"n": self.batch, "h": self.height, "w": self.width, "c": self.in_channels}

    def usual(self, name: str) -> int:
        """See `Problem.usual`: pixels without gaps."""
        return self.out_channels if name == "ldd" else super().usual(name)

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`."""
        pixels = self.pixels, self.out_channels
        d = OperandLayout(pixels, (self.ldd,), ("ldd",), self.align_d, "align_d", self.dtype.bytes)
        return {**super().layouts, "d": d}

    def dtype_of(self, operand: str) -> DType:
        """See `StridedProblem.dtype_of`."""
        return self.dtype

    @property
    def vector(self) -> int:
        """Elements of the widest access to X that every pixel is aligned for, and that divides a filter's channels."""
        stated = self.layouts["x"]
        return widest_divisor(stated.alignment // self.dtype.bytes, self.channels, *stated.strides)

    @property
    def vector_d(self) -> int:
        """Elements of the widest access to D that each pixel, and each group of it, is aligned for."""
        return widest_divisor(self.align_d // self.dtype.bytes, self.ldd, *([self.filters] if self.groups > 1 else []))

    @property
    def depthwise(self) -> bool:
        """Whether each channel is a group with one filter."""
        return self.groups == self.in_channels == self.out_channels

    @property
    def vector_channels(self) -> int:
        """Elements of the widest access that is whole, and aligned, in all pixels of X and D."""
        stated = self.layouts.values()
        return widest_divisor(min(one.vector_width for one in stated), self.in_channels, self.out_channels)

    @property
    def epilogue(self) -> Epilogue:
        """What becomes of the sums."""
        return Epilogue(self.bias, self.activation, residual=self.residual)

    @cached_property
    def product(self) -> GemmProblem:
        """The same as a product of each group, whose A is never stored: a row for each pixel of D, its terms in order
        of row, column and channel. Alignments say how wide accesses may be."""
        return GemmProblem(
            self.pixels,
            self.filters,
            self.terms,
            transpose_b=True,
            dtype=self.dtype,
            batch=self.groups,
            bias=self.bias,
            activation=self.activation,
            residual=self.residual,
            align_a=self.vector * self.dtype.bytes,
            align_b=self.align_weight,
            ldd=round_up(self.filters, self.vector_d),
            align_d=self.vector_d * self.dtype.bytes,
        )

    @cached_property
    def sgemm(self) -> SgemmProblem:
        """`product` of float32 in FP32, whose epilogue is left out."""
        return SgemmProblem(
            self.pixels,
            self.filters,
            self.terms,
            transpose_b=True,
            batch=self.groups,
            align_a=self.vector * self.dtype.bytes,
            align_b=self.align_weight,
            ldc=round_up(self.filters, self.vector_d),
            align_c=self.vector_d * self.dtype.bytes,
        )

    @property
    def unit(self) -> Unit:
        """What multiplies."""
        return Unit.FP32 if self.dtype is DType.FLOAT32 and not self.tf32 else unit_of(self.dtype)

    @property
    def work(self) -> Work:
        """One FMA for each term, those of zeros outside of images included."""
        return Work(self.tensor_bytes, {self.unit: 2 * self.pixels * self.out_channels * self.terms})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``weight`` and, if they are there, ``bias`` and ``c`` are read; ``d`` is written, and may be ``c``."""
        filters = (self.out_channels, self.kernel_h, self.kernel_w, self.channels)
        pixels = (self.batch, self.out_height, self.out_width, self.out_channels)
        strides = *(step * self.ldd for step in row_major(pixels[:3])), 1
        d = Tensor("d", self.dtype, pixels, strides, Role.OUTPUT, self.align_d, self._tolerance)
        bias = Tensor.flat("bias", self.dtype, self.out_channels, Role.INPUT, self.dtype.bytes)
        return (
            self.tensor("x", Role.INPUT),
            Tensor("weight", self.dtype, filters, row_major(filters), Role.INPUT, self.align_weight),
            *([] if self.bias is Bias.NONE else [bias]),
            *([replace(d, name="c", role=Role.INPUT)] if self.residual else []),
            replace(d, in_place="c") if self.residual else d,
        )

    @property
    def _tolerance(self) -> Within:
        """That of the products, of which FP32's is before activation and bias."""
        if self.unit is not Unit.FP32:
            (judged,) = (one.judged for one in self.product.tensors if one.name == "d")
            assert isinstance(judged, Within)
            return judged
        alpha, beta = (abs(self.scalars[name]) for name in ("alpha", "beta"))
        off = 4 * STEEPEST * ((self.terms + 4) * alpha + 4) + 4 * beta
        return Within(absolute=off * DType.FLOAT32.roundoff, relative=2 * DType.FLOAT32.roundoff)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten."""
        return self.epilogue.scalars

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1): the tolerance rests on it."""
        return self._drawn(partial(random_numbers, np.random.default_rng(seed)))

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers but 0, a pixel of NaN in each image but the first, and a filter of infinity.

        What is not finite must stay in the filter's channel, and within its reach of the pixel. None for an activation
        that rounds.
        """
        if not self.activation.exact:
            return None
        inputs = self._drawn(partial(exact_numbers, np.random.default_rng(seed)))
        views = self.views(inputs)
        views["x"][1:, seed % self.height, (seed // 2) % self.width] = np.nan
        if self.filters > 1:
            views["weight"][seed % self.out_channels] = np.inf
        return inputs

    def _drawn(self, numbers: Callable[[DType, int], Array]) -> dict[str, Array]:
        read = (tensor for tensor in self.tensors if tensor.role is not Role.OUTPUT)
        return {tensor.name: repeated(partial(numbers, self.dtype), tensor.size) for tensor in read}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """D in float64, by the scalars as a kernel gets them: in float32."""
        alpha, beta = scalars_of_kernel(scalars)
        views = {name: view.astype(np.float64) for name, view in self.views(inputs).items()}
        pixels = np.zeros((self.pixels, self.out_channels))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            if alpha != 0 and pixels.size:
                pixels = alpha * self._convolved(views["x"], views["weight"])
            z = self.epilogue.before_activation(pixels, views.get("bias"))
            c = views.get("c")
            d = self.epilogue.after_activation(z, None if c is None else c.reshape(z.shape), beta)
        return self.buffers({"d": d})

    def _convolved(self, x: Array, weight: Array) -> Array:
        """The sums of each pixel, a product for each tap and group."""
        sides = (0, 0), (self.padding_h, self.padding_h), (self.padding_w, self.padding_w), (0, 0)
        padded = np.pad(x, sides)
        sums = np.zeros((self.groups, self.pixels, self.filters))
        filters = weight.reshape(self.groups, self.filters, *weight.shape[1:])
        for row in range(self.kernel_h):
            for column in range(self.kernel_w):
                down = slice(row * self.dilation_h, None, self.stride_h)
                along = slice(column * self.dilation_w, None, self.stride_w)
                seen = padded[:, down, along][:, : self.out_height, : self.out_width]
                rows = seen.reshape(self.pixels, self.groups, self.channels).swapaxes(0, 1)
                sums += rows @ filters[:, :, row, column].swapaxes(1, 2)
        return sums.swapaxes(0, 1).reshape(self.pixels, self.out_channels)


def _out(fields: Mapping[str, Any], side: str) -> int:
    """Rows (``h``) or columns (``w``) of an image of D."""
    extent = fields["height" if side == "h" else "width"]
    names = ("kernel", "stride", "padding", "dilation")
    kernel, stride, padding, dilation = (fields[f"{name}_{side}"] for name in names)
    out: int = (extent + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    return out
