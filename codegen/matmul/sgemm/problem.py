"""What an sgemm computes: shapes, layouts, alignments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from autotune.codegen.epilogue.epilogue import Epilogue, scalars_of_kernel
from autotune.codegen.matmul.problem import ProductProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work


@dataclass(frozen=True)
class SgemmProblem(ProductProblem):
    """C[b] = alpha·op(A[b])·op(B[b]) + beta·C[b] for b < batch; all row-major FP32, FP32 arithmetic.

    op(A) is m×k, op(B) is k×n, C is m×n. A is stored as m×k, or as k×m with `transpose_a`; B as k×n, or as n×k.

    Attributes:
        m: rows of C.
        n: columns of C.
        k: length of the sums.
        transpose_a: whether A is stored transposed.
        transpose_b: whether B is stored transposed.
        batch: matrices of each operand.
        lda, ldb, ldc: elements from a row to the next as stored; 0 means rows without gaps.
        stride_a, stride_b: elements from a matrix to the next; 0 broadcasts one matrix to the whole batch.
        stride_c: elements from a matrix to the next; 0 means matrices without gaps.
        align_a, align_b, align_c: bytes (4, 8 or 16) that the pointer is a multiple of.
        beta_nonzero: whether beta may be other than 0; if not, C is never read.
    """

    renamed: ClassVar[Mapping[str, str]] = {"read_c": "beta_nonzero"}
    broadcast = frozenset("ab")
    written = frozenset("c")

    batch: int = size(1, implied=1)
    lda: int = layout(most=INT_MAX)
    stride_a: int = layout(short="sa")
    align_a: int = layout(16)
    ldb: int = layout(most=INT_MAX)
    stride_b: int = layout(short="sb")
    align_b: int = layout(16)
    ldc: int = layout(most=INT_MAX)
    stride_c: int = layout(short="sc")
    align_c: int = layout(16)
    beta_nonzero: bool = kind(False, codes=("", "beta"), transfers=True)

    def element_bytes_of(self, operand: str) -> int:
        """4: FP32."""
        return DType.FLOAT32.bytes

    @property
    def work(self) -> Work:
        """One FMA for each term.

        A and B are read once (a broadcast one once for all), C is written once, and read once if beta may not be 0.
        """
        return Work(self.tensor_bytes, {Unit.FP32: 2 * self.batch * self.m * self.n * self.k})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``a`` and ``b`` are read, ``c`` is written, or read and written."""
        roles = {"a": Role.INPUT, "b": Role.INPUT, "c": Role.IN_OUT if self.beta_nonzero else Role.OUTPUT}
        return tuple(self.tensor(operand, DType.FLOAT32, role, self._tolerance) for operand, role in roles.items())

    @property
    def _tolerance(self) -> Within:
        """Four unit roundoffs for each term and for the scaling.

        The rounding errors of a sum of k products of values in [-1, 1) add up like a random walk over partial
        sums of size √k, so the largest of millions of outputs stays near k unit roundoffs (Higham and Mary, A New
        Approach to Probabilistic Rounding Error Analysis, 2019); a lost or doubled product is of order 1.
        """
        alpha, beta = (abs(self.scalars[name]) for name in ("alpha", "beta"))
        return Within(absolute=4 * DType.FLOAT32.roundoff * ((self.k + 4) * alpha + 4 * beta))

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten."""
        return Epilogue(residual=self.beta_nonzero).scalars

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1): the tolerance rests on that."""
        random = np.random.default_rng(seed)
        two, one = np.float32(2), np.float32(1)
        return {
            tensor.name: repeated(lambda count: random.random(count, np.float32) * two - one, tensor.size)
            for tensor in self.tensors
            if tensor.role is not Role.OUTPUT
        }

    def exact_inputs(self, seed: int) -> dict[str, Array]:
        """Whole numbers other than 0, and in each matrix a row of NaN in op(A), a column of infinity in op(B).

        Sums of 600,000 such products are exact in FP32, and longer ones, which grow like a random walk, as well. What
        is not finite must stay in its row and column of C: elsewhere, even a product with zero would show it.
        """
        random = np.random.default_rng(seed)
        numbers = np.array([-3, -2, -1, 1, 2, 3], np.float32)
        inputs = {
            tensor.name: repeated(lambda count: random.choice(numbers, count), tensor.size)
            for tensor in self.tensors
            if tensor.role is not Role.OUTPUT
        }
        a, b, _ = self.tensors
        rows, columns = a.view(inputs["a"]), b.view(inputs["b"]).swapaxes(1, 2)
        if self.m > 1:
            _fill_one_of_each(rows.swapaxes(1, 2) if self.transpose_a else rows, seed, np.nan)
        if self.n > 1:
            _fill_one_of_each(columns.swapaxes(1, 2) if self.transpose_b else columns, seed + 1, np.inf)
        return inputs

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """C in float64, by the scalars as a kernel gets them: in float32."""
        alpha, beta = scalars_of_kernel(scalars)
        a, b, c = self.tensors
        flat = inputs["c"].astype(np.float64) if self.beta_nonzero else np.zeros(c.size)
        result = c.view(flat)
        product = np.zeros(result.shape)
        if alpha != 0 and self.k and c.size:
            left, right = (tensor.view(inputs[tensor.name]).astype(np.float64) for tensor in (a, b))
            with np.errstate(invalid="ignore"):  # infinities of both signs
                product = alpha * (
                    (left.swapaxes(1, 2) if self.transpose_a else left)
                    @ (right.swapaxes(1, 2) if self.transpose_b else right)
                )
        result[...] = product + beta * result if beta else product
        return {"c": flat}


def _fill_one_of_each(matrices: Array, first: int, value: float) -> None:
    """Set a row of each matrix to a value: another one in each, unless the matrices are one that is broadcast."""
    count, rows, _ = matrices.shape
    for matrix in range(count if matrices.strides[0] else min(count, 1)):
        matrices[matrix, (first + matrix) % rows] = value
