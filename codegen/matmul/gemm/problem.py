"""What a gemm computes: shapes, types, layouts, alignments, epilogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np
import numpy.typing as npt

from ...dtype import DType
from ...fields import kind, layout, size
from ...integers import ceil_div, widest_divisor
from ...problem import Array
from ...repeated import repeated
from ...tensor import EXACT, Judgement, Role, Tensor, Within, row_major
from ...work import Unit, Work
from ..gemv.activation import Activation
from ..problem import ProductProblem
from .numbers import (
    DTYPES,
    FLOAT8,
    SCALE_BLOCK,
    as_multiplied,
    exact_numbers,
    exact_scales,
    largest_product,
    largest_scale,
    random_numbers,
    random_scales,
    stored,
    unit_error,
    unit_of,
)

_BUCKETS = (16, *(2**power for power in range(6, 31)))  # numbers of rows
MOST = 2**30  # rows and columns, so that one beyond the last tile is a 32-bit number, too
_MOST_INT8 = 2**17 - 1  # terms whose sum is an int32, whatever they are
_STEEPEST = 1.25  # slope of an activation, at most
_LESS_THAN_COPIED = 2  # bytes
_MOST_EXACT_PAIRS = 2**12  # terms of two sums whose product FP32 holds


class OutDType(StrEnum):
    """The type of D, which is mostly that of A and B."""

    SAME = "same"
    FLOAT32 = DType.FLOAT32.value
    BFLOAT16 = DType.BFLOAT16.value
    FLOAT16 = DType.FLOAT16.value
    FLOAT8_E4M3 = DType.FLOAT8_E4M3.value
    FLOAT8_E5M2 = DType.FLOAT8_E5M2.value
    INT8 = DType.INT8.value
    INT32 = DType.INT32.value


class Bias(StrEnum):
    """What is added to the scaled product."""

    NONE = "none"
    ROW = "row"  # a row of n elements, to each row
    COLUMN = "column"  # a column of m elements, to each column


class Scales(StrEnum):
    """Which products share a factor, that is a factor of A times one of B, each float32."""

    NONE = "none"
    TENSOR = "tensor_scales"  # all of them
    ROW = "row_scales"  # those of a row of op(A) with a column of op(B)
    BLOCK = "block_scales"  # 1×128 of op(A) with 128×128 of op(B), as DeepSeek-V3 has them


class Gate(StrEnum):
    """Where the factors of gated pairs are among the columns of the product."""

    NONE = "none"
    HALVES = "halves"  # behind all gates
    INTERLEAVED = "interleaved"  # behind each gate


@dataclass(frozen=True)
class GemmProblem(ProductProblem):
    """D[b] = activation(Z[b]) + beta·C[b] with Z[b] = alpha·op(A[b])·op(B[b]) + bias for b < batch.

    Sums are accumulated in FP32, of integers in INT32, and rounded once. With scales, numbers of 8 bits are multiplied
    by them: scale_a[i]·A[i, j] and so on. Results of 8 bits are the nearest number of their type, also for what is
    beyond its largest.

    All matrices are row-major. op(A) is m×k, op(B) is k×n, C and D are m×n. A is stored as m×k, or as k×m with
    `transpose_a`; B as k×n, or as n×k. With `gate`, C and D have half of the columns: activation(gates)·factors instead
    of activation(Z).

    Attributes:
        m: rows of D.
        n: columns of op(B).
        k: length of the sums.
        transpose_a: whether A is stored transposed.
        transpose_b: whether B is stored transposed.
        dtype: of A and B. Elements of float32 are rounded to TF32, ties away from zero.
        mixed: whether B is of the other type of float8 than A.
        out_dtype: of D, C and bias, if it is another one; with results of 8 bits, the bias is float32. int32 is for
            int8 without an epilogue.
        fast_accumulation: whether sums of float8 may be those of tensor cores, which keep about 14 bits; otherwise,
            those of 128 terms are added up in FP32.
        scales: of A and B of 8 bits. Those of blocks are stored as m×⌈k/128⌉ and ⌈n/128⌉×⌈k/128⌉ without gaps.
        batch: matrices of each operand.
        bias: what is added to each row or each column, the same for the whole batch.
        activation: applied to the scaled product and its bias.
        gate: whether columns of Z are pairs of a gate and a factor, and where the factors are.
        residual: whether beta·C is added.
        preactivation: whether Z is written, too, in the type of D, without gaps.
        bucket_rows: whether it is served as a problem of more rows is, one of few: 16, 64 or the next power of two.
        lda, ldb: elements from a row to the next as stored; 0 means rows without gaps.
        ldd: the same of D and C.
        stride_a, stride_b: elements from a matrix to the next; 0 broadcasts one matrix to the whole batch.
        stride_d: elements from a matrix of D or C to the next; 0 means matrices without gaps.
        align_a, align_b: bytes that the pointer is a multiple of, at most 16.
        align_d: the same of D, C and Z.
    """

    broadcast = frozenset("ab")
    written = frozenset("d")

    m: int = size(4096, most=MOST)
    n: int = size(4096, most=MOST)
    k: int = size(4096, most=MOST)
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    mixed: bool = kind(False, codes=("", "mixed"))
    out_dtype: OutDType = kind(OutDType.SAME, implied=OutDType.SAME)
    fast_accumulation: bool = kind(False, codes=("", "fast"))
    scales: Scales = kind(Scales.NONE, implied=Scales.NONE)
    batch: int = size(1, implied=1)
    bias: Bias = kind(Bias.NONE, implied=Bias.NONE, transfers=True)
    activation: Activation = kind(Activation.IDENTITY, implied=Activation.IDENTITY, transfers=True)
    gate: Gate = kind(Gate.NONE, implied=Gate.NONE, transfers=True)
    residual: bool = kind(False, codes=("", "residual"), transfers=True)
    preactivation: bool = kind(False, codes=("", "preactivation"), transfers=True)
    bucket_rows: bool = kind(False, codes=("", "bucketed"), transfers=True)
    lda: int = layout()
    stride_a: int = layout(short="sa")
    align_a: int = layout(16)
    ldb: int = layout()
    stride_b: int = layout(short="sb")
    align_b: int = layout(16)
    ldd: int = layout()
    stride_d: int = layout(short="sd")
    align_d: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n % self.parts:
            raise ValueError(f"n={self.n}: expected an even number of columns for gate={self.gate}")
        if self.bucket_rows and (self.transpose_a or self.batch > 1):
            raise ValueError("bucket_rows=True: expected one matrix A that is stored row by row")
        if self.out_dtype.value == self.dtype.value:
            object.__setattr__(self, "out_dtype", OutDType.SAME)
        self._check_kinds()

    def _check_kinds(self) -> None:
        """``ValueError`` for what no kernel computes."""
        for name in ("mixed", "fast_accumulation"):
            if getattr(self, name) and self.dtype not in FLOAT8:
                raise ValueError(f"{name}=True: expected a dtype of {' or '.join(FLOAT8)}, not {self.dtype}")
        self._check_scales()
        if self.dtype is DType.INT8 and self.k > _MOST_INT8:
            raise ValueError(f"k={self.k}: expected at most {_MOST_INT8} terms of int8, whose sums are int32")
        if self.result is DType.INT32:
            alone = self.bias is Bias.NONE and not self.residual and not self.preactivation
            plain = self.activation is Activation.IDENTITY and self.gate is Gate.NONE and self.scales is Scales.NONE
            if self.dtype is not DType.INT8 or not (alone and plain):
                raise ValueError("out_dtype=int32: expected int8 without scales and without an epilogue")

    def _check_scales(self) -> None:
        known = {DType.INT8: tuple(Scales)[:3]} | dict.fromkeys(FLOAT8, tuple(Scales))
        allowed = known.get(self.dtype, (Scales.NONE,))
        if self.scales not in allowed:
            raise ValueError(f"scales={self.scales}: expected {' or '.join(allowed)} of {self.dtype}")
        if self.batch > 1 and self.scales in (Scales.ROW, Scales.BLOCK):
            raise ValueError(f"batch={self.batch}: expected 1 with {self.scales}")
        if self.fast_accumulation and self.scales is Scales.BLOCK:
            raise ValueError(f"fast_accumulation=True: {self.scales} are added up in FP32, block by block")
        if self.gate is Gate.HALVES and self.scales is Scales.BLOCK:
            raise ValueError(f"gate={self.gate}: expected {Gate.INTERLEAVED} with {self.scales}")

    @property
    def result(self) -> DType:
        """The type of D."""
        return self.dtype if self.out_dtype is OutDType.SAME else DType(self.out_dtype)

    @property
    def dtype_b(self) -> DType:
        """The type of B."""
        return FLOAT8[1 - FLOAT8.index(self.dtype)] if self.mixed else self.dtype

    @property
    def scale_shapes(self) -> dict[str, tuple[int, ...]]:
        """Of ``scale_a`` and ``scale_b``, as far as there are any."""
        blocks = ceil_div(self.k, SCALE_BLOCK)
        shapes: dict[Scales, tuple[tuple[int, ...], ...]] = {
            Scales.TENSOR: ((1,), (1,)),
            Scales.ROW: ((self.m,), (self.n,)),
            Scales.BLOCK: ((self.m, blocks), (ceil_div(self.n, SCALE_BLOCK), blocks)),
        }
        return dict(zip(("scale_a", "scale_b"), shapes.get(self.scales, ()), strict=False))

    @property
    def bias_dtype(self) -> DType:
        """The type of the bias."""
        return self.result if self.result.bits > 8 else DType.FLOAT32

    @property
    def allow_tf32(self) -> bool:
        """Whether it takes the option of that name."""
        return self.dtype is DType.FLOAT32

    @property
    def chosen_as(self) -> GemmProblem | None:
        """See `Problem.chosen_as`."""
        if not self.bucket_rows:
            return None
        return replace(self, m=next((rows for rows in _BUCKETS if self.m <= rows), self.m), bucket_rows=False)

    @property
    def least_of_bucket(self) -> GemmProblem:
        """With `bucket_rows`, the problem of the fewest rows that the same kernel serves; otherwise itself."""
        if not self.bucket_rows:
            return self
        return replace(self, m=max(rows + 1 for rows in (0, *_BUCKETS) if rows < max(1, self.m)), bucket_rows=False)

    @property
    def parts(self) -> int:
        """Columns of Z for each of D."""
        return 1 if self.gate is Gate.NONE else 2

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """See `ProductProblem.stored`."""
        return super().stored | {"d": (self.m, self.n // self.parts)}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`, or of D."""
        return (self.result if operand == "d" else self.dtype).bytes

    def vector_width(self, operand: str) -> int:
        """See `MatrixProblem.vector_width`; vectors of the second half of a row, and those of Z, are aligned, too.

        One element where two of 8 bits are less than cp.async copies.
        """
        width = super().vector_width(operand)
        across = operand == "b" and self.gate is Gate.HALVES and not self.transpose_b
        if across or (operand == "d" and self.preactivation):
            width = widest_divisor(width, self.n // 2 if self.gate is Gate.HALVES else self.n)
        return 1 if operand in "ab" and width * self.dtype.bytes == _LESS_THAN_COPIED and width > 1 else width

    @property
    def unit(self) -> Unit:
        """What multiplies."""
        return unit_of(self.dtype)

    @property
    def work(self) -> Work:
        """One FMA for each term.

        A, B (a broadcast one once for all), bias and C are read once, D and Z are written once.
        """
        products = self.batch * self.m * self.n
        if not products:
            return Work(0)
        read = self.bytes_of("a") + self.bytes_of("b") + sum(tensor.bytes for tensor in (*self._scales, *self._biases))
        of_results = (1 + self.residual) * products // self.parts + self.preactivation * products
        return Work(read + of_results * self.result.bytes, {self.unit: 2 * products * self.k})

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
        terms = alpha * min(self.k, self.k / 4 + 2 * self.k**0.5) * largest
        off = 2 * _STEEPEST * unit_error(self.dtype, self.k, fast=self.fast_accumulation) * terms
        off += 8 * DType.FLOAT32.roundoff * (terms + 1)
        if self.gate is not Gate.NONE:  # what a gate is off counts as often as its factor says, and the other way round
            off *= 2 * (1 + alpha * min(self.k, 4 * self.k**0.5) * largest)
        off += 8 * DType.FLOAT32.roundoff * beta
        if self.result is DType.INT8:  # the next number, where it is about half-way
            return Within(absolute=1.0)
        return Within.rounded(self.result, absolute=off)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten; int32 is mostly asked for as it is summed up."""
        return {"alpha": 1.0 if self.result is DType.INT32 else 1.5, "beta": -0.5 if self.residual else 0.0}

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
        """op(A) or op(B) in float64, as multiplied and scaled."""
        values, scales = as_multiplied(views[operand], self.dtype), views.get(f"scale_{operand}")
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
        alpha, beta = (float(np.float32(scalars[name])) for name in ("alpha", "beta"))
        views = {t.name: t.view(inputs[t.name]).astype(np.float64) for t in self.tensors if t.name in inputs}
        outputs = {t.name: t for t in self.tensors if t.role is Role.OUTPUT}
        flat = {name: np.zeros(t.size) for name, t in outputs.items()}
        z = np.zeros((self.batch, self.m, self.n))
        with np.errstate(invalid="ignore"):  # infinities of both signs
            if alpha != 0 and self.k and z.size:
                z = alpha * (self._scaled(views, "a") @ self._scaled(views, "b"))
            if self.bias is not Bias.NONE:
                z += views["bias"] if self.bias is Bias.ROW else views["bias"][:, None]
            activated = self._activated(z)
            result = activated + beta * views["c"] if self.residual and beta else activated
        for name, tensor in outputs.items():
            tensor.view(flat[name])[...] = result if name == "d" else z
        return {name: stored(values, self.result) for name, values in flat.items()}

    def _activated(self, z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        if self.gate is Gate.NONE:
            return self.activation.apply(z)
        halves, half = self.gate is Gate.HALVES, self.n // 2
        gates, factors = (z[..., :half], z[..., half:]) if halves else (z[..., 0::2], z[..., 1::2])
        return self.activation.apply(gates) * factors
