"""What pack computes: codes, scales and zero points of weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from autotune.codegen.matmul.gemv.problem import DTYPES, MOST
from autotune.codegen.matmul.gemv.weights import GROUP_SIZES, SCALE_DTYPES, Weights
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Unit, Work

from .quantise import quantised

FORMATS = (Weights.INT4, Weights.INT8, Weights.FP8)
_MOST_GROUPS = 2**31 - 1
_Row = npt.NDArray[np.float32]


@dataclass(frozen=True)
class PackProblem(MatrixProblem):
    """Weights of n rows and k columns as codes q, scales and zero points, which `gemv` reads: w ≈ scale · (q - zero).

    The rule is that of quantise.py, and kernels follow it bit for bit.

    Attributes:
        n: rows of W.
        k: columns of W.
        dtype: of the elements of W.
        weights: the format of the codes; two of ``int4`` are in a byte.
        group_size: weights along a row that share a scale; 0 means a whole row. Of ``fp8`` codes, blocks of as many
            rows and columns share one.
        scale_dtype: of the scales.
        zeros: whether each group of ``int4`` codes gets a zero point; if not, that is 8.
        ldw: elements from a row of W to the next; 0 means rows without gaps.
        ldq: stored elements from a row of codes to the next; 0 means rows without gaps.
        align_w, align_q: bytes that the pointer is a multiple of, at most 16.
    """

    written = frozenset("q")

    n: int = size(4096, most=MOST)
    k: int = size(4096, most=MOST)
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    weights: Weights = kind(Weights.INT4, allowed=FORMATS)
    group_size: int = kind(128, allowed=GROUP_SIZES, short="group")
    scale_dtype: DType = kind(DType.BFLOAT16, allowed=SCALE_DTYPES)
    zeros: bool = kind(False, codes=("", "zeros"))
    ldw: int = layout()
    align_w: int = layout(16)
    ldq: int = layout()
    align_q: int = layout(16)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: no more rows than groups can be counted of."""
        fitted = super().fitted(fields)
        groups = ceil_div(fitted["k"], fitted["group_size"] or max(1, fitted["k"]))
        return fitted | {"n": min(fitted["n"], _MOST_GROUPS // max(1, groups))}

    def __post_init__(self) -> None:
        super().__post_init__()
        if wrong := self.weights.why_not_grouped(self.group_size):
            raise ValueError(f"group_size={self.group_size}: {wrong}")
        if self.zeros and self.weights is not Weights.INT4:
            raise ValueError(f"zeros=True: expected weights=int4, not {self.weights}")
        if self.group_count > _MOST_GROUPS:
            raise ValueError(f"n={self.n}, k={self.k}: {self.group_count} groups, expected {_MOST_GROUPS} at most")

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``w`` and of the codes ``q`` as stored."""
        return {"w": (self.n, self.k), "q": (self.n, -(-self.k // self.weights.packed))}

    @property
    def code_dtype(self) -> DType:
        """Of the stored elements of q."""
        return self.weights.stored(self.dtype)

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`, or of `code_dtype`."""
        return (self.dtype if operand == "w" else self.code_dtype).bytes

    @property
    def group_rows(self) -> int:
        """Rows of a group."""
        return self.weights.scale_rows(self.group_size)

    @property
    def group_columns(self) -> int:
        """Columns of a group."""
        return self.group_size or self.k

    @property
    def groups_shape(self) -> tuple[int, int]:
        """Groups along the columns and along the rows."""
        return self.weights.scales_shape(self.n, self.k, self.group_size)

    @property
    def group_count(self) -> int:
        """Groups of W."""
        down, across = self.groups_shape
        return down * across

    @property
    def work(self) -> Work:
        """W is read once, codes, scales and zero points are written once; of each weight, a maximum and an FMA."""
        return Work(self.tensor_bytes, {Unit.FP32: 3 * self.n * self.k})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``w`` is read; ``q``, ``scales`` and, if there are any, ``zeros`` are written."""
        return (
            self.tensor("w", self.dtype, Role.INPUT),
            self.tensor("q", self.code_dtype, Role.OUTPUT),
            *self._of_groups,
        )

    @property
    def _of_groups(self) -> tuple[Tensor, ...]:
        """What each group of weights has: a scale, a zero point."""
        shape = self.groups_shape
        named = {"scales": self.scale_dtype} | ({"zeros": DType.UINT8} if self.zeros else {})
        return tuple(
            Tensor(name, dtype, shape, row_major(shape), Role.OUTPUT, dtype.bytes) for name, dtype in named.items()
        )

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, but for rows of each kind of `_SPECIAL` where rows have groups of their own."""
        random = np.random.default_rng(seed)
        w = self.tensors[0]
        flat = repeated(lambda count: (0.02 * random.standard_normal(count, np.float32)).astype(w.dtype.numpy), w.size)
        if self.k and self.group_rows == 1:
            chosen = random.choice(self.n, min(len(_SPECIAL), self.n // 2), replace=False)
            for number, special in zip(chosen, _SPECIAL, strict=False):
                row = w.view(flat)[number].astype(np.float32)
                special(row, random)
                w.view(flat)[number] = row
        return {"w": flat}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """All outputs, bit for bit."""
        w, q = self.tensors[:2]
        found = quantised(w.view(inputs["w"]), self.weights, self.group_size, self.scale_dtype, zeros=self.zeros)
        codes = np.zeros(q.size, q.dtype.numpy)
        q.view(codes)[...] = found.codes
        outputs = {"q": codes, "scales": found.scales.reshape(-1)}
        return outputs | ({"zeros": found.zeros.reshape(-1)} if self.zeros else {})


def _zeros(row: _Row, random: np.random.Generator) -> None:
    row[:] = 0


def _positive(row: _Row, random: np.random.Generator) -> None:
    row[:] = np.abs(row) + 1


def _negative(row: _Row, random: np.random.Generator) -> None:
    row[:] = -np.abs(row) - 1


def _halves(low: float, high: float) -> Callable[[_Row, np.random.Generator], None]:
    """Ties, where the scale of groups between these numbers is 1."""

    def fill(row: _Row, random: np.random.Generator) -> None:
        row[:] = random.integers(-14, 15, row.size) / 2
        row[::32], row[1::32] = high, low

    return fill


def _tiny(row: _Row, random: np.random.Generator) -> None:
    row *= np.float32(1e-6)
    row[: row.size // 2] = np.float32(1e-44)


def _large(row: _Row, random: np.random.Generator) -> None:
    row *= np.float32(1e5)


_SPECIAL: tuple[Callable[[_Row, np.random.Generator], None], ...] = (
    _halves(-7, 7),
    _halves(-7, 8),
    _halves(-127, 127),
    _zeros,
    _tiny,
    _positive,
    _negative,
    _large,
)
