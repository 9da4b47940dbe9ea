"""What an sgemm computes: shapes, layouts, alignments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...dtype import DType
from ...problem import Array, Problem
from ...tensor import Role, Tensor
from ...work import Unit, Work

_UNIT_ROUNDOFF = 2.0**-24
_INT_MAX = 2**31 - 1


@dataclass(frozen=True)
class SgemmProblem(Problem):
    """C[b] = alpha·op(A[b])·op(B[b]) + beta·C[b] for b < batch; all row-major FP32, FP32 arithmetic.

    op(A) is m×k, op(B) is k×n, C is m×n. A is stored as m×k, or as k×m with `transpose_a`; B as k×n, or as n×k.

    Attributes:
        lda, ldb, ldc: words from a row to the next as stored; 0 stands for the row's length.
        batch: matrices of each operand.
        stride_a, stride_b, stride_c: words from a matrix to the next; 0 broadcasts A or B, and stands for
            m·ldc in C.
        beta_nonzero: whether beta may be other than 0; if not, C is never read.
        align_a, align_b, align_c: bytes (4, 8 or 16) that the pointer is a multiple of.
    """

    renamed: ClassVar[Mapping[str, str]] = {"read_c": "beta_nonzero"}

    m: int
    n: int
    k: int
    transpose_a: bool = False
    transpose_b: bool = False
    lda: int = 0
    ldb: int = 0
    ldc: int = 0
    batch: int = 1
    stride_a: int = 0
    stride_b: int = 0
    stride_c: int = 0
    beta_nonzero: bool = False
    align_a: int = 16
    align_b: int = 16
    align_c: int = 16

    def __post_init__(self) -> None:
        for name in ("m", "n", "k", "batch"):
            if not 0 <= getattr(self, name) <= _INT_MAX:
                raise ValueError(f"{name}={getattr(self, name)}: expected 0 … {_INT_MAX}")
        for operand, (_, columns) in self.stored.items():
            leading, align, stride = (getattr(self, f"{field}{operand}") for field in ("ld", "align_", "stride_"))
            if leading == 0:
                object.__setattr__(self, f"ld{operand}", max(1, columns))
            elif leading < columns or leading > _INT_MAX:
                raise ValueError(f"ld{operand}={leading}: expected {columns} (a row of {operand}) … {_INT_MAX}")
            if align not in (4, 8, 16):
                raise ValueError(f"align_{operand}={align}: expected 4, 8 or 16 bytes")
            if stride < 0:
                raise ValueError(f"stride_{operand}={stride}: expected 0 (broadcast) or more")
            if self.batch == 1:
                object.__setattr__(self, f"stride_{operand}", 0)
        if self.batch > 1 and self.stride_c == 0:
            object.__setattr__(self, "stride_c", self.m * self.ldc)
        matrix = self.matrix_words("c")
        interleaved = self.stride_c >= self.n and (self.batch - 1) * self.stride_c + self.n <= self.ldc
        if self.batch > 1 and self.stride_c < matrix and not interleaved:
            raise ValueError(f"stride_c={self.stride_c}: matrices of C overlap; expected at least {matrix}, or 0")

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``a``, ``b`` and ``c`` as stored."""
        return {
            "a": (self.k, self.m) if self.transpose_a else (self.m, self.k),
            "b": (self.n, self.k) if self.transpose_b else (self.k, self.n),
            "c": (self.m, self.n),
        }

    def matrix_words(self, operand: str) -> int:
        """Words from the first to the last word of one matrix of ``a``, ``b`` or ``c``."""
        rows, columns = self.stored[operand]
        leading: int = getattr(self, f"ld{operand}")
        return (rows - 1) * leading + columns if rows and columns else 0

    def vector_width(self, operand: str) -> int:
        """Words (1, 2 or 4) of the widest access that every row of an operand is aligned for."""
        align, leading, stride = (getattr(self, f"{field}{operand}") for field in ("align_", "ld", "stride_"))
        return next(w for w in (4, 2, 1) if align % (4 * w) == 0 and leading % w == 0 and stride % w == 0)

    def along_k(self, operand: str) -> bool:
        """Whether neighbours along k are neighbours in memory, so that copying a tile of ``a`` or ``b`` transposes."""
        return self.transpose_b if operand == "b" else not self.transpose_a

    @property
    def layout(self) -> str:
        """``nn``, ``nt``, ``tn`` or ``tt``: A, then B, plain or transposed."""
        return ("t" if self.transpose_a else "n") + ("t" if self.transpose_b else "n")

    @property
    def key(self) -> str:
        """For example ``m4096-n4096-k4096-nn``; what is not the ordinary case follows, such as ``-lda4100``."""
        words = [f"m{self.m}", f"n{self.n}", f"k{self.k}", self.layout]
        dense = {"a": 0, "b": 0, "c": self.m * self.ldc if self.batch > 1 else 0}
        if self.batch != 1:
            words.append(f"batch{self.batch}")
        for operand, (_, columns) in self.stored.items():
            leading, align, stride = (getattr(self, f"{field}{operand}") for field in ("ld", "align_", "stride_"))
            if leading != max(1, columns):
                words.append(f"ld{operand}{leading}")
            if stride != dense[operand]:
                words.append(f"s{operand}{stride}")
            if align != 16:
                words.append(f"align{operand}{align}")
        if self.beta_nonzero:
            words.append("beta")
        return "-".join(words)

    @property
    def work(self) -> Work:
        """One FMA for each term.

        A and B are read once (a broadcast one once for all), C is written once, and read once if beta may not be 0.
        """
        if not self.batch * self.m * self.n:
            return Work(0)
        a, b = (
            rows * columns * (self.batch if getattr(self, f"stride_{operand}") else 1)
            for operand, (rows, columns) in self.stored.items()
            if operand != "c"
        )
        c = (2 if self.beta_nonzero else 1) * self.batch * self.m * self.n
        return Work(4 * (a + b + c), {Unit.FP32: 2 * self.batch * self.m * self.n * self.k})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``a`` and ``b`` are read, ``c`` is written, or read and written."""
        roles = {"a": Role.INPUT, "b": Role.INPUT, "c": Role.IN_OUT if self.beta_nonzero else Role.OUTPUT}
        return tuple(self._tensor(operand, role) for operand, role in roles.items())

    def _tensor(self, operand: str, role: Role) -> Tensor:
        leading, stride, align = (getattr(self, f"{field}{operand}") for field in ("ld", "stride_", "align_"))
        shape = (self.batch, *self.stored[operand])
        return Tensor(operand, DType.FLOAT32, shape, (stride, leading, 1), role, align)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Values that would show if alpha or beta were forgotten."""
        return {"alpha": 1.5, "beta": -0.5 if self.beta_nonzero else 0.0}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Uniform values in [-1, 1): the error bound rests on that."""
        random = np.random.default_rng(seed)
        return {
            tensor.name: random.random(tensor.size, np.float32) * np.float32(2) - np.float32(1)
            for tensor in self.tensors
            if tensor.role is not Role.OUTPUT
        }

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """C in float64."""
        alpha, beta = scalars["alpha"], scalars["beta"]
        a, b, c = self.tensors
        flat = inputs["c"].astype(np.float64) if self.beta_nonzero else np.full(c.size, np.nan)
        result = c.view(flat)
        product = np.zeros(result.shape)
        if alpha != 0 and self.k and c.size:
            left, right = (tensor.view(inputs[tensor.name]).astype(np.float64) for tensor in (a, b))
            product = alpha * (
                (left.swapaxes(1, 2) if self.transpose_a else left)
                @ (right.swapaxes(1, 2) if self.transpose_b else right)
            )
        result[...] = product + beta * result if beta else product
        return {"c": flat}

    def error_bound(self, scalars: Mapping[str, float]) -> float:
        """Four unit roundoffs for each term and for the scaling.

        The rounding errors of a sum of k products of values in [-1, 1) add up like a random walk over partial
        sums of size √k, so the largest of millions of outputs stays near k unit roundoffs (Higham and Mary, A New
        Approach to Probabilistic Rounding Error Analysis, 2019); a lost or doubled product is of order 1.
        """
        return 4 * _UNIT_ROUNDOFF * ((self.k + 4) * abs(scalars["alpha"]) + 4 * abs(scalars["beta"]))
