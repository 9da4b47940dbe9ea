"""What a conv2d_weight computes: its arrays, how they are verified, and its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from autotune.codegen.convolution.problem import ConvolutionProblem
from autotune.codegen.epilogue.epilogue import scalars_of_kernel
from autotune.codegen.matmul.gemm.numbers import exact_numbers, random_numbers
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import layout
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import round_up, widest_divisor
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.tensor import Role, Tensor, Within, row_major
from autotune.codegen.model.work import Unit, Work


@dataclass(frozen=True)
class Conv2dWeightProblem(ConvolutionProblem):
    """D = alpha·(the gradient of a conv2d by its weight), from X and the gradient of its result.

    X is (batch, height, width, in_channels), the gradient (batch, out_height, out_width, out_channels), and D
    (out_channels, kernel_h, kernel_w, in_channels / groups): for each filter and term the sum over all pixels of what
    the term sees, times the gradient. Sums are accumulated in FP32 and rounded once.

    The other attributes are those of `ConvolutionProblem`.

    Attributes:
        align_grad, align_d: bytes that the pointers of the gradient and of D are multiples of, at most 16.
    """

    operands = {"x": Axes("nhwc")}  # noqa: RUF012

    align_grad: int = layout(WIDEST_ACCESS)
    align_d: int = layout(WIDEST_ACCESS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for operand in ("grad", "d"):
            self._check_alignment(f"align_{operand}", self.dtype.bytes)

    @property
    def vector_grad(self) -> int:
        """Elements of the widest access to the gradient that each pixel, and each group of it, is aligned for."""
        return widest_divisor(self.align_grad // self.dtype.bytes, self.out_channels, self.filters)

    @cached_property
    def product(self) -> GemmProblem:
        """The same as a product of each group, over all pixels: a row for each filter, a column for each of its terms.

        A is the gradient, which lies across k, and B is never stored. Alignments say how wide accesses may be.
        """
        return GemmProblem(
            self.filters,
            self.terms,
            self.pixels,
            transpose_a=True,
            dtype=self.dtype,
            batch=self.groups,
            lda=round_up(self.filters, self.vector_grad),
            align_a=self.vector_grad * self.dtype.bytes,
            ldb=round_up(self.terms, self.vector),
            align_b=self.vector * self.dtype.bytes,
            align_d=self.align_d,
        )

    @cached_property
    def sgemm(self) -> SgemmProblem:
        """`product` of float32 in FP32."""
        size = DType.FLOAT32.bytes
        return SgemmProblem(
            self.filters,
            self.terms,
            self.pixels,
            transpose_a=True,
            batch=self.groups,
            lda=round_up(self.filters, self.vector_grad),
            align_a=self.vector_grad * size,
            ldb=round_up(self.terms, self.vector),
            align_b=self.vector * size,
            align_c=max(size, self.align_d),
        )

    @property
    def work(self) -> Work:
        """One FMA for each filter, term and pixel, those of zeros outside of images included."""
        return Work(self.tensor_bytes, {self.unit: 2 * self.pixels * self.out_channels * self.terms})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x`` and ``grad`` are read, ``d`` is written."""
        pixels = (self.batch, self.out_height, self.out_width, self.out_channels)
        filters = (self.out_channels, self.kernel_h, self.kernel_w, self.channels)
        return (
            self.tensor("x", Role.INPUT),
            Tensor("grad", self.dtype, pixels, row_major(pixels), Role.INPUT, self.align_grad),
            Tensor("d", self.dtype, filters, row_major(filters), Role.OUTPUT, self.align_d, self._tolerance),
        )

    @property
    def _tolerance(self) -> Within:
        """That of the products."""
        if self.unit is not Unit.FP32:
            (judged,) = (one.judged for one in self.product.tensors if one.name == "d")
            assert isinstance(judged, Within)
            return judged
        off = 4 * ((self.pixels + 4) * abs(self.scalars["alpha"]) + 4)
        return Within(absolute=off * DType.FLOAT32.roundoff, relative=2 * DType.FLOAT32.roundoff)

    @property
    def scalars(self) -> Mapping[str, float]:
        """A value that would show if alpha were forgotten."""
        return {"alpha": 1.5}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1): the tolerance rests on it."""
        return self._drawn(partial(random_numbers, np.random.default_rng(seed)))

    def exact_inputs(self, seed: int) -> dict[str, Array]:
        """Small whole numbers but 0; a pixel of the gradient is NaN for one filter, and one of X infinite in a channel.

        What is not finite must stay with the filter, and with the terms of the channel that see the pixel.
        """
        inputs = self._drawn(partial(exact_numbers, np.random.default_rng(seed)))
        views = self.views(inputs)
        if self.out_channels > 1:
            views["grad"][:1, -1, -1, seed % self.out_channels] = np.nan
        if self.in_channels > 1:
            another = (seed + 1) % self.in_channels  # than the filter's, where each channel has its own
            views["x"][-1:, seed % self.height, (seed // 2) % self.width, another] = np.inf
        return inputs

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """D in float64, by alpha as a kernel gets it: in float32."""
        alpha, _ = scalars_of_kernel({**scalars, "beta": 0.0})
        views = {name: view.astype(np.float64) for name, view in self.views(inputs).items()}
        by_filter = views["grad"].reshape(self.pixels, self.groups, self.filters).transpose(1, 2, 0)
        d = np.zeros((self.groups, self.filters, self.kernel_h, self.kernel_w, self.channels))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            for row, column in np.ndindex(self.kernel_h, self.kernel_w) if alpha else ():
                d[:, :, row, column] = alpha * (by_filter @ self._seen(views["x"], row, column))
        return self.buffers({"d": d})
