"""What a conv2d_input computes: its arrays, how they are verified, and its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import gcd, prod
from typing import Any, NamedTuple

import numpy as np

from autotune.codegen.convolution.problem import MOST, ConvolutionProblem
from autotune.codegen.epilogue.epilogue import scalars_of_kernel
from autotune.codegen.matmul.gemm.numbers import exact_numbers, random_numbers
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.im2col import Im2col
from autotune.codegen.model.integers import ceil_div, round_up, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Role, Tensor, Within, row_major
from autotune.codegen.model.work import Unit, Work


class Side(NamedTuple):
    """Rows, or columns, of a convolution, as those of images see the gradient.

    Row h of an image has a term under tap r where stride divides h + padding - r·dilation: for every `every`-th tap,
    and the gradient's row is `apart` before that of the tap ahead. Rows fall into `stride` phases, by h modulo the
    stride.
    """

    extent: int
    out: int
    taps: int
    stride: int
    padding: int
    dilation: int

    @property
    def every(self) -> int:
        """Taps from one that a phase sees to the next."""
        return self.stride // gcd(self.stride, self.dilation)

    @property
    def apart(self) -> int:
        """Rows of the gradient between these."""
        return self.dilation // gcd(self.stride, self.dilation)

    @property
    def length(self) -> int:
        """Rows of the longest phase."""
        return ceil_div(self.extent, self.stride)

    @property
    def seen(self) -> tuple[int, ...]:
        """Taps that each phase sees."""
        taps = [sum(self._sees(phase, tap) for tap in range(self.taps)) for phase in range(self.stride)]
        return tuple(taps)

    @property
    def lowest(self) -> int:
        """The row of the gradient that the first row of some phase sees, less than all others."""
        return -((self.dilation * (self.taps - 1) - self.padding) // self.stride)

    @property
    def highest(self) -> int:
        """Likewise, more than all others."""
        return ceil_div(self.padding, self.stride)

    def _sees(self, phase: int, tap: int) -> bool:
        return (phase + self.padding - tap * self.dilation) % self.stride == 0


@dataclass(frozen=True)
class Conv2dInputProblem(ConvolutionProblem):
    """X = alpha·(the gradient of a conv2d by its images), from the gradient of its result and the weight.

    The gradient is (batch, out_height, out_width, out_channels), the weight (out_channels, kernel_h, kernel_w,
    in_channels), and X (batch, height, width, in_channels): for each element the sum over the filters, and over the
    taps that bring it to a pixel. Pixels outside of the result are 0. Sums are accumulated in FP32 and rounded once.

    The other attributes are those of `ConvolutionProblem`.

    Attributes:
        groups: 1.
        align_grad, align_weight: bytes that the pointers are multiples of, at most 16.
    """

    operands = {"x": Axes("nhwc")}  # noqa: RUF012

    groups: int = kind(1, allowed=(1,), implied=1, short="g")
    align_grad: int = layout(WIDEST_ACCESS)
    align_weight: int = layout(WIDEST_ACCESS)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: those of all convolutions, and not too many rows of the product."""
        fitted = super().fitted(fields)
        rows = [ceil_div(fitted[extent], fitted[f"stride_{extent[0]}"]) for extent in ("height", "width")]
        filters = MOST // (fitted["kernel_h"] * fitted["kernel_w"])
        return fitted | {
            "batch": min(fitted["batch"], MOST // prod(rows)),
            "out_channels": min(fitted["out_channels"], filters),
        }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._rows > MOST:
            raise ValueError(f"batch={self.batch}: expected at most {MOST} pixels of a phase, not {self._rows}")
        if (terms := self.most_taps * self.out_channels) > MOST:
            raise ValueError(f"out_channels={self.out_channels}: expected at most {MOST} terms of a sum, not {terms}")
        for operand in ("grad", "weight"):
            self._check_alignment(f"align_{operand}", self.dtype.bytes)

    @cached_property
    def sides(self) -> tuple[Side, Side]:
        """Rows and columns."""
        down = Side(self.height, self.out_height, self.kernel_h, self.stride_h, self.padding_h, self.dilation_h)
        along = Side(self.width, self.out_width, self.kernel_w, self.stride_w, self.padding_w, self.dilation_w)
        return down, along

    @property
    def input_size(self) -> tuple[int, int]:
        """Rows and columns of an image, as calls name them."""
        return self.height, self.width

    @property
    def phases(self) -> int:
        """Of rows and of columns together."""
        return prod(self.stride)

    @property
    def phased(self) -> bool:
        """Whether rows of the product lie in X other than evenly spaced."""
        of_image, of_line, of_pixel = self.layouts["x"].strides
        even = of_line == self.width * of_pixel and of_image == self.height * of_line
        return self.phases > 1 or not even

    @property
    def most_taps(self) -> int:
        """Of a phase."""
        return prod(max(side.seen) for side in self.sides)

    @property
    def base_pixels(self) -> Im2col:
        """The pixels of the gradient that those of a phase see first, in the order of offsets."""
        lower = tuple(side.lowest for side in self.sides)
        upper = tuple(side.length + side.lowest - side.out for side in self.sides)
        return Im2col(lower, upper, (1, 1))

    @property
    def gathered_image(self) -> tuple[int, int]:
        """Rows and columns of the gradient."""
        return self.out_height, self.out_width

    @property
    def reach(self) -> tuple[int, int]:
        """Rows and columns of the gradient from the first that a pixel may see to the last."""
        down, along = (side.highest - side.lowest for side in self.sides)
        return down, along

    @property
    def vector_grad(self) -> int:
        """Elements of the widest access to the gradient that each pixel is aligned for."""
        return widest_divisor(self.align_grad // self.dtype.bytes, self.out_channels)

    @property
    def vector_weight(self) -> int:
        """Elements of the widest access to the weight that each tap is aligned for."""
        return widest_divisor(self.align_weight // self.dtype.bytes, self.in_channels)

    @cached_property
    def product(self) -> GemmProblem:
        """The same as a product of each phase: a row for each pixel of the longest, a column for each channel, and
        terms of the most taps, in order of row, column and filter. Alignments say how wide accesses may be."""
        return GemmProblem(
            self._rows,
            self.in_channels,
            self.most_taps * self.out_channels,
            dtype=self.dtype,
            batch=self.phases,
            align_a=self.vector_grad * self.dtype.bytes,
            align_b=self.vector_weight * self.dtype.bytes,
            ldd=round_up(self.in_channels, self.vector),
            align_d=self.vector * self.dtype.bytes,
        )

    @cached_property
    def sgemm(self) -> SgemmProblem:
        """`product` of float32 in FP32."""
        size = DType.FLOAT32.bytes
        return SgemmProblem(
            self._rows,
            self.in_channels,
            self.most_taps * self.out_channels,
            batch=self.phases,
            align_a=self.vector_grad * size,
            align_b=self.vector_weight * size,
            ldc=round_up(self.in_channels, self.vector),
            align_c=self.vector * size,
        )

    @property
    def _rows(self) -> int:
        return self.batch * prod(side.length for side in self.sides)

    @property
    def work(self) -> Work:
        """One FMA for each pixel of the result, filter and term."""
        products = self.pixels * self.out_channels * self.terms
        return Work(self.tensor_bytes, {self.unit: 2 * products})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``grad`` and ``weight`` are read, ``d``, the images' gradient, is written."""
        pixels = (self.batch, self.out_height, self.out_width, self.out_channels)
        filters = (self.out_channels, self.kernel_h, self.kernel_w, self.in_channels)
        return (
            Tensor("grad", self.dtype, pixels, row_major(pixels), Role.INPUT, self.align_grad),
            Tensor("weight", self.dtype, filters, row_major(filters), Role.INPUT, self.align_weight),
            replace(self.tensor("x", Role.OUTPUT, self._tolerance), name="d"),
        )

    @property
    def _tolerance(self) -> Within:
        """That of the products."""
        if self.unit is not Unit.FP32:
            (judged,) = (one.judged for one in self.product.tensors if one.name == "d")
            assert isinstance(judged, Within)
            return judged
        off = 4 * ((self.most_taps * self.out_channels + 4) * abs(self.scalars["alpha"]) + 4)
        return Within(absolute=off * DType.FLOAT32.roundoff, relative=2 * DType.FLOAT32.roundoff)

    @property
    def scalars(self) -> Mapping[str, float]:
        """A value that would show if alpha were forgotten."""
        return {"alpha": 1.5}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1): the tolerance rests on it."""
        return self._drawn(partial(random_numbers, np.random.default_rng(seed)))

    def exact_inputs(self, seed: int) -> dict[str, Array]:
        """Small whole numbers but 0; a pixel of the gradient is NaN, and the weight infinite in a channel.

        What is not finite must stay within the filter's reach of the pixel, and in the channel.
        """
        inputs = self._drawn(partial(exact_numbers, np.random.default_rng(seed)))
        views = self.views(inputs)
        views["grad"][-1:, seed % self.out_height, (seed // 2) % self.out_width] = np.nan
        if self.in_channels > 1:
            views["weight"][..., seed % self.in_channels] = np.inf
        return inputs

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """X in float64, by alpha as a kernel gets it: in float32."""
        alpha, _ = scalars_of_kernel({**scalars, "beta": 0.0})
        views = {name: view.astype(np.float64) for name, view in self.views(inputs).items()}
        d = np.zeros((self.batch, self.height, self.width, self.in_channels))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            for row, column in np.ndindex(self.kernel_h, self.kernel_w) if alpha else ():
                (rows, seen_rows), (columns, seen_columns) = (
                    _under(side, tap) for side, tap in zip(self.sides, (row, column), strict=True)
                )
                seen = _padded(_padded(views["grad"], 1, seen_rows), 2, seen_columns)
                d[:, rows, columns] += alpha * (seen @ views["weight"][:, row, column])
        return self.buffers({"d": d})


def _under(side: Side, tap: int) -> tuple[slice, range]:
    """The rows of images that a tap brings to rows of the result, and those, which may be outside of it."""
    first = (tap * side.dilation - side.padding) % side.stride
    rows = range(first, side.extent, side.stride)
    begin = (first + side.padding - tap * side.dilation) // side.stride
    return slice(first, None, side.stride), range(begin, begin + len(rows))


def _padded(grad: Array, axis: int, rows: range) -> Array:
    """Some rows of the gradient, with zeros for those outside of it."""
    sides = [(0, 0)] * grad.ndim
    below = max(0, -rows.start)
    sides[axis] = (below, max(0, rows.stop - grad.shape[axis]))
    return np.pad(grad, sides).take(np.arange(rows.start + below, rows.stop + below), axis)
