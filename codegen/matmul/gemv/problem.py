"""What a gemv computes: shapes, layouts, alignments, epilogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from ...dtype import DType
from ...fields import kind, layout, size
from ...matrices import MatrixProblem
from ...problem import Array
from ...repeated import repeated
from ...tensor import Judgement, Role, Tensor, Within
from ...work import Unit, Work
from .activation import Activation

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
MOST_VECTORS = 16
MOST = 2**30  # rows and columns of W, so that one beyond the last tile is a 32-bit number, too
_STEEPEST = 1.25  # slope of an activation, at most


class WeightOrder(StrEnum):
    """How W is stored, row by row."""

    NK = "nk"  # a row for each output, as PyTorch stores the weights of a linear layer
    KN = "kn"  # a row for each input


@dataclass(frozen=True)
class GemvProblem(MatrixProblem):
    """y[b, j] = activation(alpha·W[b]·x[b, j] + bias) + beta·y[b, j] for j < m and b < batch, accumulated in FP32.

    Attributes:
        n: outputs, the elements of a vector y.
        k: inputs, the elements of a vector x.
        m: vectors, 1 to 16; of none there is nothing to compute.
        order: whether W is stored as n×k (``nk``) or as k×n (``kn``).
        dtype: of the elements of W, x, bias and y.
        batch: matrices W, and groups of m vectors.
        bias: whether a vector of n elements is added, the same for all vectors.
        activation: applied to the scaled product and its bias.
        beta_nonzero: whether beta may be other than 0; if not, y is never read.
        ldx, ldy: elements from a vector to the next; 0 means vectors without gaps.
        ldw: elements from a row of W to the next as stored; 0 means rows without gaps.
        stride_x, stride_w: elements from a group of vectors, or a matrix, to the next; 0 broadcasts the first one.
        stride_y: elements from a group of vectors to the next; 0 means groups without gaps.
        align_x, align_w, align_y: bytes that the pointer is a multiple of, at most 16.
    """

    broadcast = frozenset("xw")
    written = frozenset("y")

    n: int = size(4096, most=MOST)
    k: int = size(4096, most=MOST)
    m: int = kind(1, allowed=range(MOST_VECTORS + 1), short="m", transfers=True)
    order: WeightOrder = kind(WeightOrder.NK)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    batch: int = size(1, implied=1)
    bias: bool = kind(False, codes=("", "bias"), transfers=True)
    activation: Activation = kind(Activation.IDENTITY, transfers=True)
    beta_nonzero: bool = kind(False, codes=("", "beta"), transfers=True)
    ldx: int = layout()
    stride_x: int = layout(short="sx")
    align_x: int = layout(16)
    ldw: int = layout()
    stride_w: int = layout(short="sw")
    align_w: int = layout(16)
    ldy: int = layout()
    stride_y: int = layout(short="sy")
    align_y: int = layout(16)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``, ``w`` and ``y`` as stored."""
        by_output = self.order is WeightOrder.NK
        return {
            "x": (self.m, self.k),
            "w": (self.n, self.k) if by_output else (self.k, self.n),
            "y": (self.m, self.n),
        }

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`."""
        return self.dtype.bytes

    @property
    def work(self) -> Work:
        """One FMA for each term.

        W, x and bias are read once (broadcast ones once for all), y is written once, and read once if beta may not be
        0.
        """
        results = self.batch * self.m * self.n
        if not results:
            return Work(0)
        x, w = (
            rows * columns * (self.batch if getattr(self, f"stride_{operand}") else 1)
            for operand, (rows, columns) in self.stored.items()
            if operand != "y"
        )
        y = (2 if self.beta_nonzero else 1) * results
        bias = self.n if self.bias else 0
        return Work(self.dtype.bytes * (x + w + bias + y), {Unit.FP32: 2 * results * self.k})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``w`` and, if there is one, ``bias`` are read, ``y`` is written, or read and written."""
        bias = Tensor.flat("bias", self.dtype, self.n, Role.INPUT, self.dtype.bytes)
        return (
            self.tensor("x", self.dtype, Role.INPUT),
            self.tensor("w", self.dtype, Role.INPUT),
            *([bias] if self.bias else []),
            self.tensor("y", self.dtype, Role.IN_OUT if self.beta_nonzero else Role.OUTPUT, self._tolerance),
        )

    @property
    def _tolerance(self) -> Judgement:
        """That of an sgemm, by the steepest slope of an activation, and the rounding to the type of y."""
        alpha, beta = (abs(self.scalars[name]) for name in ("alpha", "beta"))
        terms = _STEEPEST * ((self.k + 4) * alpha + 4) + 4 * beta
        return Within.rounded(self.dtype, absolute=4 * DType.FLOAT32.roundoff * terms)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten."""
        return {"alpha": 1.5, "beta": -0.5 if self.beta_nonzero else 0.0}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1): the tolerance rests on that."""
        random = np.random.default_rng(seed)
        two, one = np.float32(2), np.float32(1)
        return self._drawn(lambda count: random.random(count, np.float32) * two - one)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Whole numbers other than 0, one vector x of NaN, and one output's weights infinite.

        What is not finite must stay in its vector or its output of y. None for an activation that rounds.
        """
        if not self.activation.exact:
            return None
        random = np.random.default_rng(seed)
        numbers = np.array([-3, -2, -1, 1, 2, 3], np.float32)
        inputs = self._drawn(lambda count: random.choice(numbers, count))
        x, w = (tensor.view(inputs[tensor.name]) for tensor in self.tensors[:2])
        if self.m > 2:
            x[:, seed % self.m] = np.nan
        if self.n > 2:
            (w if self.order is WeightOrder.NK else w.swapaxes(1, 2))[:, seed % self.n] = np.inf
        return inputs

    def _drawn(self, draw: Callable[[int], Array]) -> dict[str, Array]:
        read = (tensor for tensor in self.tensors if tensor.role is not Role.OUTPUT)
        return {tensor.name: repeated(draw, tensor.size).astype(tensor.dtype.numpy) for tensor in read}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y in float64, by the scalars as a kernel gets them: in float32."""
        alpha, beta = (float(np.float32(scalars[name])) for name in ("alpha", "beta"))
        x, w, y = self.tensors[0], self.tensors[1], self.tensors[-1]
        flat = inputs["y"].astype(np.float64) if self.beta_nonzero else np.zeros(y.size)
        result = y.view(flat)
        product = np.zeros(result.shape)
        if alpha != 0 and self.k and y.size:
            left, right = (tensor.view(inputs[tensor.name]).astype(np.float64) for tensor in (x, w))
            with np.errstate(invalid="ignore"):  # infinities of both signs
                product = alpha * (left @ (right.swapaxes(1, 2) if self.order is WeightOrder.NK else right))
        if self.bias:
            product += inputs["bias"].astype(np.float64)
        activated = self.activation.apply(product)
        result[...] = activated + beta * result if beta else activated
        return {"y": flat}
