"""What a gemv computes: shapes, layouts, alignments, epilogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np

from autotune.codegen.epilogue.activation import FUSED, STEEPEST, Activation
from autotune.codegen.epilogue.epilogue import Bias, Epilogue, scalars_of_kernel
from autotune.codegen.matmul.tensor_unit import unit_of
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Judgement, Role, Tensor, Within, row_major
from autotune.codegen.model.work import Unit, Work

from .weights import GROUP_SIZES, SCALE_DTYPES, Weights

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
MOST_VECTORS = 16
MOST = 2**30  # rows and columns of W, so that one beyond the last tile is a 32-bit number, too


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
        dtype: of the elements of x, bias and y, and of W unless it is quantised.
        batch: matrices W, and groups of m vectors.
        bias: whether a vector of n elements is added, the same for all vectors.
        activation: applied to the scaled product and its bias.
        beta_nonzero: whether beta may be other than 0; if not, y is never read.
        weights: what the elements of W are. Quantised ones are stored as n×k.
        group_size: terms of an output whose weights share a scale; 0 means all of them. Of ``fp8`` weights, blocks of
            as many rows and columns share a scale.
        scale_dtype: of the scales of quantised weights.
        zeros: whether each group has a zero point, 0 to 15; if not, that of ``int4`` weights is 8.
        transpose_x: whether the vectors x are stored as k×m: the columns of a matrix. W is not quantised, then.
        transpose_y: whether the vectors y are stored as n×m.
        ldx, ldy: elements from a vector to the next, or from a row of transposed ones; 0 means rows without gaps.
        ldw: elements from a row of W to the next as stored, of which one holds two weights of 4 bits; 0 means rows
            without gaps.
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
    activation: Activation = kind(Activation.IDENTITY, allowed=FUSED, transfers=True)
    beta_nonzero: bool = kind(False, codes=("", "beta"), transfers=True)
    weights: Weights = kind(Weights.PLAIN, implied=Weights.PLAIN)
    group_size: int = kind(0, allowed=GROUP_SIZES, short="group", implied=0)
    scale_dtype: DType = kind(DType.FLOAT32, allowed=SCALE_DTYPES, implied=DType.FLOAT32)
    zeros: bool = kind(False, codes=("", "zeros"))
    transpose_x: bool = kind(False, codes=("", "tx"))
    transpose_y: bool = kind(False, codes=("", "ty"))
    ldx: int = layout()
    stride_x: int = layout(short="sx")
    align_x: int = layout(16)
    ldw: int = layout()
    stride_w: int = layout(short="sw")
    align_w: int = layout(16)
    ldy: int = layout()
    stride_y: int = layout(short="sy")
    align_y: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if wrong := self.weights.why_not_grouped(self.group_size):
            raise ValueError(f"group_size={self.group_size}: {wrong}")
        if self.quantised and self.order is not WeightOrder.NK:
            raise ValueError(f"order={self.order}: expected nk for weights={self.weights}")
        if self.zeros and self.weights is not Weights.INT4:
            raise ValueError(f"zeros=True: expected weights=int4, not {self.weights}")
        if self.transpose_x and self.quantised:
            raise ValueError(f"transpose_x=True: expected weights=plain, not {self.weights}")
        if not self.quantised and self.scale_dtype is not DType.FLOAT32:
            raise ValueError(
                f"scale_dtype={self.scale_dtype}: expected float32 for weights=plain, which have no scales"
            )

    @property
    def epilogue(self) -> Epilogue:
        """What becomes of the product of a group's vectors, m rows, and W transposed."""
        bias = Bias.ROW if self.bias else Bias.NONE
        return Epilogue(bias, self.activation, residual=self.beta_nonzero)

    @property
    def quantised(self) -> bool:
        """Whether W has scales."""
        return self.weights is not Weights.PLAIN

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``, ``w`` and ``y`` as stored."""
        by_output = self.order is WeightOrder.NK
        return {
            "x": (self.k, self.m) if self.transpose_x else (self.m, self.k),
            "w": (self.n, ceil_div(self.k, self.weights.packed)) if by_output else (self.k, self.n),
            "y": (self.n, self.m) if self.transpose_y else (self.m, self.n),
        }

    @property
    def weight_dtype(self) -> DType:
        """Of the stored elements of W."""
        return self.weights.stored(self.dtype)

    @property
    def scale_rows(self) -> int:
        """Rows of W that share a scale."""
        return self.weights.scale_rows(self.group_size)

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`, or of `weight_dtype`."""
        return (self.weight_dtype if operand == "w" else self.dtype).bytes

    @property
    def work(self) -> Work:
        """One FMA for each term, which tensor cores compute of 16-bit numbers where W is stored as n×k.

        W, its scales, x and bias are read once (broadcast ones once for all), y is written once, and read once if beta
        may not be 0.
        """
        unit = unit_of(self.dtype) if self.order is WeightOrder.NK and self.dtype.bits == 16 else Unit.FP32
        return Work(self.tensor_bytes, {unit: 2 * self.batch * self.m * self.n * self.k})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``w`` and, if they are there, ``scales``, ``zeros`` and ``bias`` are read.

        ``y`` is written, or read and written.
        """
        bias = Tensor.flat("bias", self.dtype, self.n, Role.INPUT, self.dtype.bytes)
        return (
            self.tensor("x", self.dtype, Role.INPUT),
            self.tensor("w", self.weight_dtype, Role.INPUT),
            *self._of_groups,
            *([bias] if self.bias else []),
            self.tensor("y", self.dtype, Role.IN_OUT if self.beta_nonzero else Role.OUTPUT, self._tolerance),
        )

    @property
    def _of_groups(self) -> tuple[Tensor, ...]:
        """What each group of weights has: a scale, a zero point."""
        if not self.quantised:
            return ()
        rows, columns = self.weights.scales_shape(self.n, self.k, self.group_size)
        shape = (self.batch if self.stride_w else 1, rows, columns)
        named = {"scales": self.scale_dtype} | ({"zeros": DType.UINT8} if self.zeros else {})
        return tuple(
            Tensor(name, dtype, shape, row_major(shape), Role.INPUT, dtype.bytes) for name, dtype in named.items()
        )

    @property
    def _tolerance(self) -> Judgement:
        """That of an sgemm, by the steepest slope of an activation, and the rounding to the type of y."""
        alpha, beta = (abs(self.scalars[name]) for name in ("alpha", "beta"))
        terms = STEEPEST * ((self.k + 4) * alpha + 4) + 4 * beta
        return Within.rounded(self.dtype, absolute=4 * DType.FLOAT32.roundoff * terms)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten."""
        return self.epilogue.scalars

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1), and weights of at most 1: the tolerance rests on that."""
        random = np.random.default_rng(seed)
        two, one = np.float32(2), np.float32(1)
        return self._drawn(lambda count: random.random(count, np.float32) * two - one) | self._codes(random)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """Whole numbers other than 0, one vector x of NaN, and one output's weights infinite.

        What is not finite must stay in its vector or its output of y. Quantised weights are finite. None for an
        activation that rounds.
        """
        if not self.activation.exact:
            return None
        random = np.random.default_rng(seed)
        numbers = np.array([-3, -2, -1, 1, 2, 3], np.float32)
        inputs = self._drawn(lambda count: random.choice(numbers, count)) | self._codes(random, small=True)
        x, w = (tensor.view(inputs[tensor.name]) for tensor in self.tensors[:2])
        if self.m > 2:
            (x.swapaxes(1, 2) if self.transpose_x else x)[:, seed % self.m] = np.nan
        if self.n > 2 and not self.quantised:
            (w if self.order is WeightOrder.NK else w.swapaxes(1, 2))[:, seed % self.n] = np.inf
        return inputs

    def _drawn(self, draw: Callable[[int], Array]) -> dict[str, Array]:
        def drawn(dtype: DType, count: int) -> Array:
            return draw(count).astype(dtype.numpy)

        read = (tensor for tensor in self.tensors if tensor.role is not Role.OUTPUT)
        return {tensor.name: repeated(partial(drawn, tensor.dtype), tensor.size) for tensor in read}

    def _codes(self, random: np.random.Generator, *, small: bool = False) -> dict[str, Array]:
        tensors = {tensor.name: tensor for tensor in self.tensors}
        return self.weights.random(random, tensors, small=small) if self.quantised else {}

    def _dequantised(self, inputs: Mapping[str, Array]) -> Array:
        """W in float64, in the order in which it is stored."""
        views = {tensor.name: tensor.view(inputs[tensor.name]) for tensor in (self.tensors[1], *self._of_groups)}
        if not self.quantised:
            return views["w"].astype(np.float64)
        return self.weights.dequantised(views["w"], views["scales"], views.get("zeros"), self.k, self.group_size)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y in float64, by the scalars as a kernel gets them: in float32."""
        alpha, beta = scalars_of_kernel(scalars)
        x, y = self.tensors[0], self.tensors[-1]
        flat = inputs["y"].astype(np.float64) if self.beta_nonzero else np.zeros(y.size)
        result = y.view(flat).swapaxes(1, 2) if self.transpose_y else y.view(flat)
        product = np.zeros(result.shape)
        if alpha != 0 and self.k and y.size:
            left, right = x.view(inputs["x"]).astype(np.float64), self._dequantised(inputs)
            left = left.swapaxes(1, 2) if self.transpose_x else left
            with np.errstate(invalid="ignore"):  # infinities of both signs
                product = alpha * (left @ (right.swapaxes(1, 2) if self.order is WeightOrder.NK else right))
        z = self.epilogue.before_activation(product, inputs.get("bias"))
        result[...] = self.epilogue.after_activation(z, result, beta)
        return {"y": flat}
