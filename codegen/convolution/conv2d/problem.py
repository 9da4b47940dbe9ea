"""What a conv2d computes: its arrays, how they are verified, and its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from autotune.codegen.convolution.filtering import Filtering, filtering
from autotune.codegen.convolution.problem import DTYPES, TILES, ConvolutionProblem
from autotune.codegen.epilogue.activation import FUSED, STEEPEST, Activation
from autotune.codegen.epilogue.epilogue import Bias, Epilogue, scalars_of_kernel
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import MOST_INT8, Scales
from autotune.codegen.matmul.gemm.numbers import (
    exact_numbers,
    exact_scales,
    largest_scale,
    random_numbers,
    random_scales,
    stored,
)
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div, round_up, widest_divisor
from autotune.codegen.model.operand_layout import OperandLayout
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Judgement, Role, Tensor, Within, row_major
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.source.kernel_source import KernelSource

RESULTS = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, DType.INT8, DType.INT32)  # of int8
_OUT_DTYPES = (OutDType.SAME, *(OutDType(one) for one in RESULTS if one is not DType.INT8))
_TILE_VECTOR = {2: 4, 4: 2}  # lanes of tiles that a thread has in registers, by their side


@dataclass(frozen=True)
class Conv2dProblem(ConvolutionProblem):
    """D = activation(alpha·X∗W + bias) + beta·C: a cross-correlation of images and filters, as PyTorch has it.

    X is (batch, height, width, in_channels), the weight (out_channels, kernel_h, kernel_w, in_channels / groups), and C
    and D are (batch, out_height, out_width, out_channels). What lies outside of an image is 0. Sums are accumulated
    in FP32, of int8 in INT32, and rounded once. Results of int8 are the nearest number, also for what is beyond its
    largest.

    The other attributes are those of `ConvolutionProblem`.

    Attributes:
        dtype: of X and the weight.
        out_dtype: of D, C and the bias of sums of int8, if it is another one; the bias of results of int8 is float32.
            int32 is for sums without an epilogue.
        scaled: whether sums of int8 are multiplied by a float32 scale of their filter.
        bias: whether an element for each channel is added.
        activation: applied to the scaled convolution and its bias.
        residual: whether beta·C is added.
        winograd: side of the tiles of pixels, 2 or 4, that float32 may compute by fewer products of transformed
            operands. These round more, the larger the tiles, and spread what is not finite over a tile. 0: none.
        align_weight: bytes that the pointer of the weight is a multiple of, at most 16.
        ldd: elements from a pixel of D, or of C, to the next; 0 means pixels without gaps.
        align_d: bytes that the pointers of D and C are multiples of, at most 16.
    """

    operands = {"x": Axes("nhwc")}  # noqa: RUF012

    dtype: DType = kind(DType.FLOAT32, allowed=(*DTYPES, DType.INT8))
    out_dtype: OutDType = kind(OutDType.SAME, allowed=_OUT_DTYPES, implied=OutDType.SAME)
    scaled: bool = kind(False, codes=("", "scaled"), transfers=True)
    bias: Bias = kind(Bias.NONE, allowed=(Bias.NONE, Bias.ROW), implied=Bias.NONE, transfers=True)
    activation: Activation = kind(Activation.IDENTITY, allowed=FUSED, implied=Activation.IDENTITY, transfers=True)
    residual: bool = kind(False, codes=("", "residual"), transfers=True)
    winograd: int = kind(0, allowed=(0, *TILES), implied=0, short="winograd")
    align_weight: int = layout(WIDEST_ACCESS)
    ldd: int = layout()
    align_d: int = layout(WIDEST_ACCESS)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: as of all convolutions, and no more terms of int8 than int32 can hold."""
        fitted = super().fitted(fields)
        if fitted["dtype"] is DType.INT8:
            groups, taps = fitted["groups"], fitted["kernel_h"] * fitted["kernel_w"]
            fitted["in_channels"] = groups * max(1, min(fitted["in_channels"] // groups, MOST_INT8 // taps))
        return fitted

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.ldd and self.ldd < self.out_channels:
            raise ValueError(f"ldd={self.ldd}: expected at least the {self.out_channels} channels of a pixel, or 0")
        if self.winograd and self.unit is not Unit.FP32:
            raise ValueError(f"winograd={self.winograd}: expected a dtype of float32 without tf32, not {self.dtype}")
        object.__setattr__(self, "ldd", self.ldd if self.ldd and self.pixels > 1 else self.out_channels)
        object.__setattr__(self, "out_dtype", self.out_dtype.beside(self.dtype))
        self._check_integers()
        for operand, dtype in (("weight", self.dtype), ("d", self.result)):
            self._check_alignment(f"align_{operand}", dtype.bytes)

    def _check_integers(self) -> None:
        """``ValueError`` for what no kernel computes."""
        if self.dtype is not DType.INT8:
            if self.scaled or self.result is not self.dtype:
                raise ValueError(f"dtype={self.dtype}: expected int8 with scaled=True or an out_dtype of another type")
            return
        if self.terms > MOST_INT8:
            raise ValueError(f"in_channels={self.in_channels}: expected at most {MOST_INT8} terms, not {self.terms}")
        if self.result is DType.INT32 and (self.scaled or self.epilogue != Epilogue()):
            raise ValueError("a result of int32 has plain sums: expected no scale and no epilogue, or float32")

    def usual(self, name: str) -> int:
        """See `Problem.usual`: pixels without gaps."""
        return self.out_channels if name == "ldd" else super().usual(name)

    @property
    def layouts(self) -> Mapping[str, OperandLayout]:
        """See `Problem.layouts`."""
        pixels = self.pixels, self.out_channels
        d = OperandLayout(pixels, (self.ldd,), ("ldd",), self.align_d, "align_d", self.result.bytes)
        return {**super().layouts, "d": d}

    @property
    def result(self) -> DType:
        """The type of D."""
        return self.out_dtype.of(self.dtype)

    @property
    def vector_d(self) -> int:
        """Elements of the widest access to D that each pixel, and each group of it, is aligned for."""
        return widest_divisor(self.align_d // self.result.bytes, self.ldd, *([self.filters] if self.groups > 1 else []))

    @property
    def vector_channels(self) -> int:
        """Elements of the widest access that is whole, and aligned, in all pixels of X and D."""
        stated = self.layouts.values()
        return widest_divisor(min(one.vector_width for one in stated), self.in_channels, self.out_channels)

    @property
    def allow_winograd(self) -> int:
        """`winograd`, as calls name it."""
        return self.winograd

    @property
    def transforms(self) -> bool:
        """Whether transformed operands have fewer products."""
        steps = (*self.stride, *self.dilation, self.groups)
        return self.winograd > 0 and self.kernel_size == (3, 3) and set(steps) == {1}

    @property
    def filtering(self) -> Filtering:
        """The transforms."""
        return filtering(self.winograd, self.kernel_h)

    @property
    def tiles(self) -> int:
        """Of transformed results."""
        side = self.filtering.outputs
        return self.batch * ceil_div(self.out_height, side) * ceil_div(self.out_width, side)

    @property
    def transform_vector(self) -> int:
        """Elements of an access to X and the weight that transforms them."""
        widest = min(_TILE_VECTOR[self.winograd], self.vector, self.align_weight // self.dtype.bytes)
        return widest_divisor(widest, self.in_channels)

    @property
    def pixel_vector(self) -> int:
        """Elements of an access to D that transforms products."""
        return widest_divisor(min(_TILE_VECTOR[self.winograd], self.vector_d), self.out_channels)

    @cached_property
    def transformed(self) -> SgemmProblem:
        """The products of transformed operands: for each place of a tile, of the tiles by the filters."""
        places = self.filtering.side**2
        return SgemmProblem(
            *(self.tiles, self.out_channels, self.in_channels),
            batch=places,
            stride_a=self.tiles * self.in_channels,
            stride_b=self.out_channels * self.in_channels,
        )

    @property
    def transformed_sizes(self) -> tuple[int, int, int]:
        """Elements of the operands of these products, and of their results."""
        one = self.transformed
        return one.batch * one.m * one.k, one.batch * one.n * one.k, one.batch * one.m * one.n

    def stated(self, source: KernelSource) -> KernelSource:
        """The source of a kernel with what else it is to know of the problem."""
        return source

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
            out_dtype=self.out_dtype,
            batch=self.groups,
            bias=self.bias,
            activation=self.activation,
            residual=self.residual,
            align_a=self.vector * self.dtype.bytes,
            align_b=self.align_weight,
            ldd=round_up(self.filters, self.vector_d),
            align_d=self.vector_d * self.result.bytes,
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
    def work(self) -> Work:
        """One FMA for each term, those of zeros outside of images included, or for each transformed one."""
        products = self.pixels * self.out_channels * self.terms
        if self.transforms:
            products = self.transformed.work.operations[Unit.FP32] // 2
        return Work(self.tensor_bytes, {self.unit: 2 * products})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``weight`` and, if they are there, ``scale_b``, ``bias`` and ``c`` are read.

        ``d`` is written, and may be ``c``.
        """
        filters = (self.out_channels, self.kernel_h, self.kernel_w, self.channels)
        pixels = (self.batch, self.out_height, self.out_width, self.out_channels)
        strides = *(step * self.ldd for step in row_major(pixels[:3])), 1
        d = Tensor("d", self.result, pixels, strides, Role.OUTPUT, self.align_d, self._tolerance)
        scale, bias = (
            Tensor.flat(name, dtype, self.out_channels, Role.INPUT, dtype.bytes)
            for name, dtype in (("scale_b", DType.FLOAT32), ("bias", self.product.bias_dtype))
        )
        return (
            self.tensor("x", Role.INPUT),
            Tensor("weight", self.dtype, filters, row_major(filters), Role.INPUT, self.align_weight),
            *([scale] if self.scaled else []),
            *([] if self.bias is Bias.NONE else [bias]),
            *([replace(d, name="c", role=Role.INPUT)] if self.residual else []),
            replace(d, in_place="c") if self.residual else d,
        )

    @property
    def _tolerance(self) -> Judgement:
        """That of the products, of which FP32's is before activation and bias."""
        if self.unit is not Unit.FP32:
            product = replace(self.product, scales=Scales.TENSOR) if self.scaled else self.product
            return next(one.judged for one in product.tensors if one.name == "d")
        alpha, beta = (abs(self.scalars[name]) for name in ("alpha", "beta"))
        more = float(self.filtering.amplification) if self.transforms else 1.0
        off = 4 * STEEPEST * ((self.terms + 4) * more * alpha + 4) + 4 * beta
        return Within(absolute=off * DType.FLOAT32.roundoff, relative=2 * DType.FLOAT32.roundoff)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten."""
        return self.product.scalars

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1), or integers of 8 bits, scaled to that: the tolerance rests on it."""
        random = np.random.default_rng(seed)
        found = self._drawn(partial(random_numbers, random))
        if self.scaled:  # by one factor, where a product has one of each operand
            found["scale_b"] = random_scales(random, self.dtype, self.out_channels)
            found["scale_b"] *= np.float32(largest_scale(self.dtype))
        return found

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers but 0, a pixel of NaN in every other group of each image but the first, and a filter of
        infinity.

        What is not finite must stay in the filter's channel and group, and within its reach of the pixel; none is there
        where it may spread. None for an activation that rounds, and for transforms that do.
        """
        inputs = self._whole_numbers(seed)
        if inputs is None or self.transforms or not self.dtype.is_float:
            return inputs if self.winograd <= 2 else None
        views = self.views(inputs)
        pixels = views["x"][1:, seed % self.height, (seed // 2) % self.width]
        pixels.reshape(-1, self.groups, self.channels)[:, ::2] = np.nan
        if self.filters > 1:
            views["weight"][seed % self.out_channels] = np.inf
        return inputs

    def _whole_numbers(self, seed: int) -> dict[str, Array] | None:
        if not self.activation.exact:
            return None
        random = np.random.default_rng(seed)
        found = self._drawn(partial(exact_numbers, random))
        return found | ({"scale_b": exact_scales(random, self.out_channels)} if self.scaled else {})

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """D in float64, by the scalars as a kernel gets them: in float32."""
        alpha, beta = scalars_of_kernel(scalars)
        views = {name: view.astype(np.float64) for name, view in self.views(inputs).items()}
        pixels = np.zeros((self.pixels, self.out_channels))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            if alpha != 0 and pixels.size:
                pixels = alpha * self._convolved(views["x"], views["weight"]) * views.get("scale_b", 1.0)
            z = self.epilogue.before_activation(pixels, views.get("bias"))
            c = views.get("c")
            d = self.epilogue.after_activation(z, None if c is None else c.reshape(z.shape), beta)
        return {"d": stored(self.buffers({"d": d})["d"], self.result)}

    def _convolved(self, x: Array, weight: Array) -> Array:
        """The sums of each pixel, a product for each tap and group."""
        sums = np.zeros((self.groups, self.pixels, self.filters))
        filters = weight.reshape(self.groups, self.filters, *weight.shape[1:])
        for row in range(self.kernel_h):
            for column in range(self.kernel_w):
                sums += self._seen(x, row, column) @ filters[:, :, row, column].swapaxes(1, 2)
        return sums.swapaxes(0, 1).reshape(self.pixels, self.out_channels)
