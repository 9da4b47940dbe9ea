"""What a gemm computes: its arrays, how they are verified, and its reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from autotune.codegen.epilogue.activation import STEEPEST
from autotune.codegen.epilogue.epilogue import Bias, scalars_of_kernel
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.tensor_unit import unit_of
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import EXACT, Judgement, Role, Tensor, Within, row_major
from autotune.codegen.model.work import Unit, Work

from .fields import GemmFields, Scales
from .numbers import (
    SCALE_BLOCK,
    exact_numbers,
    exact_scales,
    largest_product,
    largest_scale,
    random_numbers,
    random_scales,
    stored,
    unit_error,
)

_MOST_EXACT_PAIRS = 2**12  # terms of two sums whose product FP32 holds


@dataclass(frozen=True)
class GemmProblem(GemmFields):
    """D[b] = activation(Z[b]) + beta·C[b] with Z[b] = alpha·op(A[b])·op(B[b]) + bias for b < batch.

    Sums are accumulated in FP32, of integers in INT32, and rounded once. With scales, numbers of 8 bits are multiplied
    by them: scale_a[i]·A[i, j] and so on. Results of 8 bits are the nearest number of their type, also for what is
    beyond its largest.

    All matrices are row-major. op(A) is m×k, op(B) is k×n, C and D are m×n. A is stored as m×k, or as k×m with
    `transpose_a`; B as k×n, or as n×k. With `gate`, C and D have half of the columns: activation(gates)·factors instead
    of activation(Z).
    """

    @property
    def unit(self) -> Unit:
        """What multiplies."""
        return unit_of(self.dtype)

    @property
    def work(self) -> Work:
        """One FMA for each term.

        A, B (a broadcast one once for all), bias and C are read once, D and Z are written once.
        """
        return Work(self.tensor_bytes, {self.unit: 2 * self.batch * self.m * self.n * self.k})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``a``, ``b`` and, if they are there, ``scale_a``, ``scale_b``, ``bias`` and ``c`` are read.

        ``d`` is written, and may be ``c``; so is ``z``, if it is there.
        """
        d = self.tensor("d", self.result, Role.OUTPUT, self._tolerance)
        c = replace(d, name="c", role=Role.INPUT)
        operands = (self.tensor("a", self.dtype, Role.INPUT), self.tensor("b", self.dtype_b, Role.INPUT))
        read = (*operands, *self._scales, *self._biases, *([c] if self.residual else []))
        return (*read, replace(d, in_place="c") if self.residual else d, *self._kept)

    @property
    def _kept(self) -> tuple[Tensor, ...]:
        if not self.preactivation:
            return ()
        shape = (self.batch, self.m, self.n)
        return (Tensor("z", self.result, shape, row_major(shape), Role.OUTPUT, self.align_d, self._tolerance),)

    @property
    def _scales(self) -> tuple[Tensor, ...]:
        dtype = DType.FLOAT32
        return tuple(
            Tensor(name, dtype, shape, row_major(shape), Role.INPUT, dtype.bytes)
            for name, shape in self.scale_shapes.items()
        )

    @property
    def _biases(self) -> tuple[Tensor, ...]:
        if self.bias is Bias.NONE:
            return ()
        count = self.n if self.bias is Bias.ROW else self.m
        return (Tensor.flat("bias", self.bias_dtype, count, Role.INPUT, self.bias_dtype.bytes),)

    @property
    def _tolerance(self) -> Judgement:
        """What the products of tensor cores and the epilogue may be off, and the rounding to the type of D.

        The sum S of the absolute values of k terms in [-1, 1) is about k/4.
        """
        if self.result is DType.INT32:
            return EXACT
        alpha, beta = (abs(self.scalars[name]) for name in ("alpha", "beta"))
        largest = largest_product(self.dtype) * largest_scale(self.dtype) ** len(self._scales)
        terms = alpha * (self.k if self.k < 8 else self.k / 4 + 2 * self.k**0.5) * largest
        off = 2 * STEEPEST * unit_error(self.dtype, self.k, fast=self.fast_accumulation) * terms
        off += 8 * DType.FLOAT32.roundoff * (terms + 1)
        if self.gate is not Gate.NONE:  # what a gate is off counts as often as its factor says, and the other way round
            off *= 2 * (1 + alpha * (self.k if self.k < 16 else 4 * self.k**0.5) * largest)
        off += 8 * DType.FLOAT32.roundoff * beta
        if self.result is DType.INT8:  # the next number, where it is about half-way
            return Within(absolute=1.0)
        return Within.rounded(self.result, absolute=off)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten; int32 is mostly asked for as it is summed up."""
        return self.epilogue.scalars | ({"alpha": 1.0} if self.result is DType.INT32 else {})

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1), or integers of 8 bits, scaled to that: the tolerance rests on it."""
        random = np.random.default_rng(seed)
        scales = partial(random_scales, random, self.dtype)
        return self._drawn(partial(random_numbers, random), scales)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Small whole numbers but 0, a row of NaN in op(A), a column of infinity, or NaN, in op(B).

        What is not finite must stay in its row and column of D: elsewhere, even a product with zero would show it.
        None for an activation that rounds, and for products of sums that do.
        """
        scaled_or_long = self.scales is not Scales.NONE or self.k > _MOST_EXACT_PAIRS
        if not self.activation.exact or (self.gate is not Gate.NONE and scaled_or_long):
            return None
        random = np.random.default_rng(seed)
        inputs = self._drawn(partial(exact_numbers, random), partial(exact_scales, random))
        a, b = (tensor.view(inputs[tensor.name]) for tensor in self.tensors[:2])
        if self.m > 1 and self.dtype.is_float:
            (a.swapaxes(1, 2) if self.transpose_a else a)[:, seed % self.m] = np.nan
        if self.n > 1 and self.dtype.is_float:
            # float8_e4m3fn has no infinity: it becomes NaN.
            (b if self.transpose_b else b.swapaxes(1, 2))[:, (seed + 1) % self.n] = np.inf
        return inputs

    def _drawn(self, numbers: Callable[[DType, int], Array], scales: Callable[[int], Array]) -> dict[str, Array]:
        def draw(tensor: Tensor, count: int) -> Array:
            return scales(count) if tensor.name in self.scale_shapes else numbers(tensor.dtype, count)

        read = (tensor for tensor in self.tensors if tensor.role is not Role.OUTPUT)
        return {tensor.name: repeated(partial(draw, tensor), tensor.size) for tensor in read}

    def _scaled(self, views: Mapping[str, Array], operand: str) -> Array:
        """op(A) or op(B) in float64, scaled."""
        values, scales = views[operand], views.get(f"scale_{operand}")
        values = values.swapaxes(1, 2) if getattr(self, f"transpose_{operand}") else values
        if scales is None or self.scales is Scales.TENSOR:
            return values if scales is None else values * scales
        if self.scales is Scales.BLOCK:
            scales = scales.repeat(SCALE_BLOCK, axis=1)[:, : self.k]
            scales = scales if operand == "a" else scales.repeat(SCALE_BLOCK, axis=0)[: self.n]
        else:
            scales = scales[:, None]
        return values * (scales if operand == "a" else scales.T)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """D and Z in float64 (int32 in its own type), by the scalars as a kernel gets them: in float32."""
        alpha, beta = scalars_of_kernel(scalars)
        views = {name: view.astype(np.float64) for name, view in self.views(inputs).items()}
        product = np.zeros((self.batch, self.m, self.n))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            if alpha != 0 and self.k and product.size:
                product = alpha * (self._scaled(views, "a") @ self._scaled(views, "b"))
            z = self.epilogue.before_activation(product, views.get("bias"))
            result = self.epilogue.after_activation(z, views.get("c"), beta)
        names = [tensor.name for tensor in self.tensors if tensor.role is Role.OUTPUT]
        flat = self.buffers({name: result if name == "d" else z for name in names})
        return {name: stored(values, self.result) for name, values in flat.items()}
